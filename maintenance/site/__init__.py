"""The site of known results: what each released backend breaks, by operation, requirement and product."""
