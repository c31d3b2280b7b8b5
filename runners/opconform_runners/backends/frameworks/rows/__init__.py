"""How a framework executes each operation."""
