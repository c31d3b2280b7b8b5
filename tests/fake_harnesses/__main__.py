"""A fake harness. Usage: `python tests/fake_harnesses/__main__.py NAME [OPERATION...]`."""

import site
import sys
from pathlib import Path


def main(name: str, *operations: str) -> None:
    """Serve with one misbehaviour; only a harness that breaks a rule needs more than Python itself."""
    sys.path[0] = str(Path(__file__).parents[2])
    from tests.fake_harnesses import MISBEHAVIOURS
    from tests.fake_harnesses.server import serve, serve_until_marked

    if name == "waits for a signal":
        serve_until_marked()
    elif name in MISBEHAVIOURS:
        serve(MISBEHAVIOURS[name].act)
    else:
        site.main()
        from tests.fake_harnesses.rules import fake

        fake(name, operations).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
