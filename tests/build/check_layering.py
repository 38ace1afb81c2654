"""Checks the arrows between folders, what is confined to some of them, and that X.cpp begins with
its own X.hpp, so that compiling it alone shows that this header needs nothing before it.

usage: check_layering.py ROOT     prints each violation as FILE:LINE: SENTENCE; exit status 1 if any
"""

import pathlib
import re
import sys

import source_text

# folder -> the folders whose headers it may include, besides its own
ARROWS = {
    "collectives": (),
    "data": (),
    "nn": (),
    "optim": ("collectives",),
    "runtime": ("optim", "collectives", "data", "nn"),
    "app": ("runtime", "optim", "nn", "data", "collectives"),
}

# header of a dependency -> the places that may include it
CONFINED_HEADERS = {
    r"mpi\.h": ("collectives/",),
    r"(hdf5|H5\w+)\.h": ("data/", "runtime/checkpoint"),
    r"zlib\.h": ("data/",),
    r"(unsupported/)?Eigen/.*": ("nn/",),
    r"oneapi/.*|dnnl.*": ("nn/",),
    r"boost/(?!crc\.hpp).*": ("app/",),
    r"boost/crc\.hpp": ("runtime/record_frame",),
    r"google/protobuf/.*|.*\.pb\.h": ("runtime/tensorboard",),
}

MPI_NAME = re.compile(r"\bMPI_\w+")
PRINTS_OR_EXITS = re.compile(
    r"\bstd::(cout|cerr|clog)\b|\b(stdout|stderr)\b|\b(printf|puts|putchar|perror)\s*\("
    r"|\b(exit|_exit|_Exit|quick_exit|abort|terminate)\s*\("
)
# The one place in the libraries that speaks and ends the process, because it is its purpose.
MAY_PRINT = {
    "collectives/session.cpp": "run_session() turns an exception into a message and an exit code",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
PRAGMA_ONCE = re.compile(r"^#pragma once$", re.MULTILINE)


def violations(root):
    for path in source_text.files(root, source_text.CODE_FOLDERS, (".hpp", ".cpp", ".h")):
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8")
        yield from include_violations(name, source_text.without_comments(text))
        yield from header_violations(path, name, source_text.without_comments(text))
        yield from word_violations(name, source_text.without_comments_and_strings(text))


def include_violations(name, text):
    folder = name.split("/")[0]
    for number, line in source_text.numbered_lines(text):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match[2]
        sentence = wrong_arrow(folder, match[1], header) or wrong_dependency(name, header)
        if sentence:
            yield f"{name}:{number}: {sentence}"


def header_violations(path, name, text):
    if path.suffix == ".hpp" and not PRAGMA_ONCE.search(text):
        yield f"{name}:1: has no #pragma once"
    if path.suffix == ".cpp" and path.with_suffix(".hpp").exists():
        own = name.removesuffix(".cpp") + ".hpp"
        included = [match[2] for match in map(INCLUDE.match, text.splitlines()) if match]
        if included[:1] != [own]:
            yield f"{name}:1: does not include {own} before anything else"


def wrong_arrow(folder, bracket, header):
    target = header.split("/")[0]
    if bracket == '"' and "/" not in header:
        return f'"{header}" is included without its folder'
    if target in source_text.FREE_FOLDERS:
        return f"{folder} includes {header}, but nobody includes {target}"
    if target in ARROWS and target not in ARROWS[folder] + (folder,):
        allowed = ", ".join(ARROWS[folder]) or "none of our other folders"
        return f"{folder} includes {header}, but {folder} may include {allowed}"
    return None


def wrong_dependency(name, header):
    for pattern, places in CONFINED_HEADERS.items():
        if re.fullmatch(pattern, header) and not name.startswith(places):
            return f"{header} is included outside {' and '.join(places)}"
    return None


def word_violations(name, text):
    folder = name.split("/")[0]
    for number, line in source_text.numbered_lines(text):
        mpi = MPI_NAME.search(line)
        if mpi and folder != "collectives":
            yield f"{name}:{number}: {mpi[0]} is used outside collectives/"
        speech = PRINTS_OR_EXITS.search(line)
        if speech and folder in source_text.LIBRARY_FOLDERS and name not in MAY_PRINT:
            word = speech[0].rstrip("( ")
            yield f"{name}:{number}: a library folder never prints and never exits, but uses {word}"


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(violations(root))
    print("\n".join(found) or "every include follows the arrows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
