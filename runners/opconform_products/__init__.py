"""The products that opconform knows: one folder for each, none of which knows another."""
