"""Checks that code for wide vectors runs where it was asked for, and nowhere else.

usage: check_wide_code.py LIBRARY...   prints each symbol that breaks the rule; exit status 1 if any

The linker keeps one copy of an inline function for the whole program. If a file that is compiled
for processors with AVX-512 has one that other files have too, they may get its copy, and a
processor without AVX-512 stops there. So all that such a file defines is in a namespace of its own,
which is called like the file.
"""

import subprocess
import sys

WIDTH = "_of_512_bits"  # in the names of such files, and of what is their own
WIDE_FILE = f"{WIDTH}.cpp"
CODE_SEEN_BY_OTHERS = set("TWi")  # types as nm prints them


def shared_symbols(listing):
    """Of the wide file, in what `nm -A -C --defined-only LIBRARY` prints, or None."""
    lines = [line for line in listing.splitlines() if f"{WIDE_FILE}.o:" in line]
    if not lines:
        return None
    symbols = [line.split(":", 2)[2].split(maxsplit=2) for line in lines]
    return [name for _, kind, name in symbols
            if kind in CODE_SEEN_BY_OTHERS and WIDTH not in name]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    is_broken = False
    for library in sys.argv[1:]:
        listing = subprocess.run(["nm", "-A", "-C", "--defined-only", library], check=True,
                                 capture_output=True, text=True).stdout
        found = shared_symbols(listing)
        if found is None:
            sys.exit(f"{library}: has no file *{WIDE_FILE}")
        is_broken = is_broken or bool(found)
        for name in found:
            print(f"{library}: code for wide vectors defines {name}, which other files may define "
                  "too: let it be inlined, or in the namespace of its width")
    if not is_broken:
        print("wide code is in namespaces of its own")
    return 1 if is_broken else 0


if __name__ == "__main__":
    sys.exit(main())
