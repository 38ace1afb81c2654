"""Checks that files can be read in one go: at most 300 lines of at most 100 columns.

usage: check_sizes.py ROOT        prints each excess as FILE:LINE: SENTENCE; exit status 1 if any
"""

import pathlib
import sys

import source_text

MAX_LINES = 300
MAX_COLUMNS = 100
FOLDERS = source_text.CODE_FOLDERS + source_text.FREE_FOLDERS + ("cmake", ".ci")
SUFFIXES = (".cpp", ".hpp", ".py", ".sh", ".cmake", "CMakeLists.txt")

# file -> why it may be longer
LONGER = {}


def excesses(root, longer):
    for path in source_text.files(root, FOLDERS, SUFFIXES):
        name = path.relative_to(root).as_posix()
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > MAX_LINES and name not in longer:
            yield f"{name}: has {len(lines)} lines, more than {MAX_LINES}"
        if len(lines) <= MAX_LINES and name in longer:
            yield f"{name}: is listed as longer than {MAX_LINES} lines, but has {len(lines)}"
        for number, line in enumerate(lines, start=1):
            if len(line) > MAX_COLUMNS:
                yield f"{name}:{number}: has {len(line)} columns, more than {MAX_COLUMNS}"


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(excesses(root, LONGER))
    print("\n".join(found) or f"every file has at most {MAX_LINES} lines of {MAX_COLUMNS} columns")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
