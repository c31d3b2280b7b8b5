"""How the errors of rounded elements go through the operations of a graph."""
