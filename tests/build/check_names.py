"""Checks that files which are compiled as one do not define one name twice.

usage: check_names.py ROOT        prints each name as TARGET: SENTENCE; exit status 1 if any

Where RUBATO_UNITY_BUILD is on (cmake/RubatoCompileOptions.cmake) the sources of data, runtime, app
and a test program meet in groups that change with every new file, and so do the anonymous
namespaces in them. There a value and a type have a name of their own in the whole target, an alias
stands for the same everywhere, and functions of one name differ in their parameters.
"""

import collections
import pathlib
import re
import sys

ANONYMOUS = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r"^(?:class|struct|enum class|union) (\w+)(?: final)?(?: : [^;{]*)? \{",
                  re.MULTILINE)
ALIAS = re.compile(r"^using (\w+) =([^;]*);", re.MULTILINE)
VALUE = re.compile(r"^(?:inline |static |thread_local |constexpr |const )+[^(\n=]*?\b(\w+)"
                   r"(?:\[\w*\])?(?: =|\{|;|\n)", re.MULTILINE)
FUNCTION = re.compile(r"^(?![ }/#]|using|class|struct|namespace|TEST|INSTANTIATE)[^=;\n]*?\b(\w+)"
                      r"\(((?:[^{;]|\{\})*?)\)(?: const)?(?: noexcept)?(?: try)? \{", re.MULTILINE)
PROGRAM = re.compile(r"^rubato_(?:mpi_)?test\((\w+)(.*?)\bSOURCES\b(.*?)\bLIBRARIES\b",
                     re.MULTILINE | re.DOTALL)


def definitions(text):
    """Of the anonymous namespaces: pairs of what has to differ, and what two may have in common."""
    for part in ANONYMOUS.findall(text):
        for pattern in (TYPE, VALUE):
            for match in pattern.finditer(part):
                yield match[1], None
        for match in ALIAS.finditer(part):
            yield match[1], " ".join(match[2].split())
        for match in FUNCTION.finditer(part):
            parameters = re.sub(r"=[^,]*", "", match[2]).split(",")
            types = [re.sub(r"(?<=[ &*])\w+\s*$", "", each).strip() for each in parameters]
            yield f"{match[1]}({', '.join(types)})", None


def sources_of(lists, words):
    """The .cpp files that a list names, those of its variables (set, list(APPEND)) included."""
    for word in words.split():
        variable = re.fullmatch(r"\$\{(\w+)\}", word)
        if variable:
            found = re.findall(rf"(?:set\(|APPEND ){variable[1]}\s([^)]*)", lists)
            if not found:
                sys.exit(f"check_names.py: {word} names sources, but no set() or list(APPEND) "
                         "of the same file says which")
            for more in found:
                yield from sources_of(lists, more.replace(word, ""))
        elif word.endswith(".cpp"):
            yield word


def targets(root):
    for folder in ("data", "runtime", "app"):
        yield folder, sorted((root / folder).glob("*.cpp"))
    for lists in sorted(root.glob("tests/*/CMakeLists.txt")):
        text = lists.read_text(encoding="utf-8")
        for name, _, sources in PROGRAM.findall(text):
            files = [lists.parent / each for each in sources_of(text, sources)]
            if len(files) > 3:  # as in cmake/RubatoTest.cmake
                yield name, files


def twins(files):
    found = collections.defaultdict(dict)
    for file in files:
        for name, meaning in definitions(file.read_text(encoding="utf-8")):
            found[name][file.name] = meaning
    for name, meanings in sorted(found.items()):
        if len(meanings) > 1 and (None in meanings.values() or len(set(meanings.values())) > 1):
            yield f"{name} is defined in {' and '.join(meanings)}"


def main():
    root = pathlib.Path(sys.argv[1])
    sentences = [f"{target}: {each}" for target, files in targets(root) for each in twins(files)]
    print("\n".join(sentences) or "what is compiled together defines no name twice")
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())
