"""Checks that every source file has its test, and that every test is built.

usage: check_mirror.py ROOT       prints each gap as FILE: SENTENCE; exit status 1 if any

<folder>/<file>.cpp is tested by tests/<folder>/<file>_test.cpp (or .py, for what is tested through
the command), and tests/<folder>/CMakeLists.txt names that file, whole or
without its ending (in a loop): a test in no build list cannot fail.
"""

import pathlib
import re
import sys

import source_text

# source -> why it has no test file of its own
WITHOUT_TEST = {
    "app/main.cpp": "calls the commands, which have their tests",
    "nn/convolution_passes_of_512_bits.cpp": "few_channel_kernels_test.cpp takes either width",
    "nn/convolution_passes_of_build.cpp": "few_channel_kernels_test.cpp takes either width",
    "optim/gradient_passes_of_512_bits.cpp": "gradient_passes_test.cpp takes either width",
    "optim/gradient_passes_of_build.cpp": "gradient_passes_test.cpp takes either width",
}


def gaps(root, without_test):
    for path in source_text.files(root, source_text.CODE_FOLDERS, (".cpp",)):
        name = path.relative_to(root).as_posix()
        has_test = any(test_of(root, name, suffix).exists() for suffix in (".cpp", ".py"))
        if has_test and name in without_test:
            yield f"{name}: is listed as having no test, but has one"
        if not has_test and name not in without_test:
            yield f"{name}: has no {test_of(root, name, '.cpp').relative_to(root)}"
    for name in without_test:
        if not (root / name).exists():
            yield f"{name}: is listed as having no test, but does not exist"


def test_of(root, name, suffix):
    return root / "tests" / (name.removesuffix(".cpp") + "_test" + suffix)


def unbuilt(root):
    for path in source_text.files(root, ("tests",), ("_test.cpp", "_test.py")):
        build_list = path.parent / "CMakeLists.txt"
        text = build_list.read_text(encoding="utf-8") if build_list.exists() else ""
        if not re.search(rf"\b{path.stem.removesuffix('_test')}(_test)?\b", text):
            yield f"{path.relative_to(root)}: is named in no CMakeLists.txt of its folder"


def main():
    root = pathlib.Path(sys.argv[1])
    found = [*gaps(root, WITHOUT_TEST), *unbuilt(root)]
    print("\n".join(found) or "every source has its test, every test is built")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
