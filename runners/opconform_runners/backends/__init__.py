"""The backends that opconform ships, a module each."""
