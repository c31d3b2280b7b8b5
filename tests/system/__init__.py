"""The machine and the installation."""
