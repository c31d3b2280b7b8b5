"""The rows of single frameworks: the calls that execute each operation."""
