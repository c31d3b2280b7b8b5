"""The rules of the protocol, one module per topic."""
