"""What a backend supports: rules that are learnt from a run, and the file of claims that its maker commits."""
