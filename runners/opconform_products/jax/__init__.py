"""The backend `jax`."""
