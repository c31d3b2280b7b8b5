"""Pages of the docs that are generated: `python -m tests.pages.findings` writes one again."""
