"""`python -m opconform` starts the command line."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder, whose modules are not opconform's
    from opconform_runners.cli.main import main

    main()
