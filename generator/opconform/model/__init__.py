"""One concrete case: its draft, its graph and its golden tensors."""
