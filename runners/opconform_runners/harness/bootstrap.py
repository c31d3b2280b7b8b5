"""The Python harness in an interpreter that opconform is not installed for.

Run as a script: `PYTHON -P bootstrap.py FOLDER BACKEND`, with the folder of the package `opconform`. It imports the
three packages from their folders and nothing else that is installed beside them, so that the product under test is the
other interpreter's own.
"""

import importlib.util
import sys
from pathlib import Path


def bring(name: str, folder: Path) -> None:
    """Import a package from its folder."""
    spec = importlib.util.spec_from_file_location(name, folder / "__init__.py")
    if spec is None or spec.loader is None:
        sys.exit(f"{folder} contains no package.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    bring("opconform", Path(sys.argv[1]))
    bring("opconform_runners", Path(__file__).parents[1])
    bring("opconform_products", Path(__file__).parents[2] / "opconform_products")
    from opconform_runners.harness.server import main

    main(sys.argv[2])
