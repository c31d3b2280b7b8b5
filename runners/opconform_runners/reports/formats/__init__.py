"""Reports in formats that other programs read, one module per format."""
