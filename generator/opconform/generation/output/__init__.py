"""The writing of suites: in processes, to files, and as a stream of batches."""
