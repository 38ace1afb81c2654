"""Checks that code for wide vectors runs where it was asked for, and nowhere else.

usage: check_wide_code.py LIBRARY   prints each symbol that breaks the rule; exit status 1 if any

The linker keeps one copy of an inline function for the whole program. If a file that is compiled
for processors with AVX-512 has one that other files have too, they may get its copy, and a
processor without AVX-512 stops there. So all that such a file defines is in a namespace of its own.
"""

import subprocess
import sys

WIDE_FILE = "gradient_passes_of_512_bits.cpp"
ITS_OWN = ("lanes_of_512_bits", "passes_of_512_bits")
CODE_SEEN_BY_OTHERS = set("TWi")  # types as nm prints them


def shared_symbols(listing):
    """Of the wide file, in what `nm -A -C --defined-only LIBRARY` prints, or None."""
    lines = [line for line in listing.splitlines() if f":{WIDE_FILE}" in line]
    if not lines:
        return None
    symbols = [line.split(":", 2)[2].split(maxsplit=2) for line in lines]
    return [name for _, kind, name in symbols
            if kind in CODE_SEEN_BY_OTHERS and not any(own in name for own in ITS_OWN)]


def main():
    listing = subprocess.run(["nm", "-A", "-C", "--defined-only", sys.argv[1]], check=True,
                             capture_output=True, text=True).stdout
    found = shared_symbols(listing)
    if found is None:
        sys.exit(f"{sys.argv[1]}: has no {WIDE_FILE}")
    print("\n".join(f"{WIDE_FILE}: defines {name}, which other files may define too: let it be "
                    "inlined, or in namespace RUBATO_LANES" for name in found)
          or "wide code is in a namespace of its own")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
