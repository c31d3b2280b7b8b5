"""More than one process or machine: clusters, shards and streams."""
