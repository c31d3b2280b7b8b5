"""What names a suite and its cases: digests, ids, and where they come from."""
