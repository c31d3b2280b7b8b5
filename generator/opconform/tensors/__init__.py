"""Element types and tensors: arrays with exact bits, in memory and on disk."""
