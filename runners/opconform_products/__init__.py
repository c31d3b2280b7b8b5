"""The products that opconform knows: one folder per product. No product imports another one."""
