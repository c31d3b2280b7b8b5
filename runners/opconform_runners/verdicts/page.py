"""The page with the results of a run: its file, in the folder of the results."""

PAGE = "report.html"
#: The beginning of a page that opconform wrote.
PAGE_BEGINNING = b"<!doctype html>\n<!-- opconform report -->"
