"""Renew the golden files of ``tests/golden`` from what the shipped recordings give now.

Run it from the checkout: ``python scripts/update_golden.py [--show] [PROFILE...]``. It prints the
files that changed; with ``--show`` also how, which git cannot say of those that are compressed.
"""

from __future__ import annotations

import argparse
import sys
from difflib import unified_diff
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.golden.outputs import golden, outputs, renew
from tests.report.replaying import SHIPPED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("profiles", nargs="*", default=sorted(SHIPPED), metavar="PROFILE")
    parser.add_argument("--show", action="store_true", help="print the differences")
    arguments = parser.parse_args()
    for profile in arguments.profiles:
        for kind, text in outputs(profile).items():
            try:
                before = golden(profile, kind)
            except FileNotFoundError:
                before = ""
            if text == before:
                continue
            renew(profile, kind, text)
            print(f"renewed: {profile} {kind}")
            if arguments.show:
                both = (before.splitlines(), text.splitlines())
                print(*unified_diff(*both, "before", "now", lineterm="", n=1), sep="\n")


if __name__ == "__main__":
    main()
