"""The backend `tvm`."""
