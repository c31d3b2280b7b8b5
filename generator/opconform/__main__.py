"""`python -m opconform` starts the command line."""

from opconform_runners.cli.main import main

if __name__ == "__main__":
    main()
