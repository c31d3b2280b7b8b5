"""The names of the files of a suite that have no case, and of the document in the folder of each case."""

HEADER = "suite.json"
MANIFEST = "manifest.jsonl"
CASE = "case.json"
