"""The process that drives one backend, and the protocol that it speaks."""
