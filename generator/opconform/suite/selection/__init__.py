"""Which cases of a suite are meant."""
