"""Reports in the formats that other programs read, a module each with one function that gives the text."""
