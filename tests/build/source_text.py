"""Reads the project's C++ files for the checks beside this file.

The checks look at text, not at a parsed program: quick and without dependencies. The price is that
a name hidden behind a macro goes unseen.
"""

import pathlib
import re

LIBRARY_FOLDERS = ("collectives", "data", "nn", "optim", "runtime")
CODE_FOLDERS = LIBRARY_FOLDERS + ("app",)
FREE_FOLDERS = ("tests", "bench", "examples")  # may include anything; nobody includes them

_COMMENT = r"//[^\n]*|/\*.*?\*/"
_RAW_STRING = r'R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"'
_STRING = r'"(?:\\.|[^"\\\n])*"'
_CHARACTER = r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"  # what follows a digit is 1'000
_TOKEN = re.compile(f"(?P<comment>{_COMMENT})|{_RAW_STRING}|{_STRING}|{_CHARACTER}", re.DOTALL)


def files(root, folders, suffixes):
    """Yields the files with one of the suffixes below the folders, in a fixed order."""
    for folder in folders:
        for path in sorted(pathlib.Path(root, folder).rglob("*")):
            if path.is_file() and path.name.endswith(tuple(suffixes)):
                yield path


def without_comments(text):
    """The text with blanks for comments; line numbers stay."""
    return _TOKEN.sub(lambda match: _blank(match) if match["comment"] else match[0], text)


def without_comments_and_strings(text):
    return _TOKEN.sub(_blank, text)


def _blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def numbered_lines(text):
    return enumerate(text.splitlines(), start=1)
