"""Specs: YAML files to checked groups of cases."""
