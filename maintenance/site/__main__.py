"""Write the site: `python -m maintenance.site OUT` writes a folder, or a zip file if OUT ends in `.zip`."""

import sys
from pathlib import Path

from maintenance.findings import releases
from maintenance.site.pages import pages
from maintenance.site.writer import write_folder, write_zip
from opconform.specs.loader import shipped_operations
from opconform.suite.case import GRAPH

if __name__ == "__main__":
    OUT = Path(sys.argv[1])
    (write_zip if OUT.suffix == ".zip" else write_folder)(OUT, pages(releases(), (*shipped_operations(), GRAPH)))
