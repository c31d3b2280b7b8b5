"""Drawn graphs: chains and diamonds of operations, what makes their goldens sure, and how they are reduced."""
