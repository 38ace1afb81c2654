"""Shows that the checks of this folder turn red: each case is a small tree with one thing wrong."""

import pathlib
import tempfile
import unittest

import check_layering
import check_mirror
import check_names
import check_sizes
import check_wide_code


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Layering(Tree):
    def violations(self, name, text):
        self.write(name, text)
        return list(check_layering.violations(self.root))

    def assert_clean(self, name, text):
        self.assertEqual(self.violations(name, text), [])

    def test_accepts_every_arrow_of_the_table(self):
        self.assert_clean("app/main.cpp", '#include "runtime/trainer.hpp"\n')
        self.assert_clean("runtime/trainer.cpp", '#include "optim/sgd.hpp"\n')
        self.assert_clean("optim/sync.cpp", '#include "collectives/allreduce.hpp"\n')
        self.assert_clean("data/dataset.cpp", '#include "data/dataset.hpp"\n#include <vector>\n')

    def test_reports_an_arrow_against_the_table(self):
        self.assertEqual(
            self.violations("data/dataset.cpp", '\n#include "nn/model.hpp"\n'),
            ["data/dataset.cpp:2: data includes nn/model.hpp,"
             " but data may include none of our other folders"],
        )

    def test_reports_an_upward_arrow(self):
        self.assertEqual(
            self.violations("optim/sgd.hpp", '#pragma once\n#include "runtime/trainer.hpp"\n'),
            ["optim/sgd.hpp:2: optim includes runtime/trainer.hpp,"
             " but optim may include collectives"],
        )

    def test_reports_an_upward_arrow_in_angle_brackets(self):
        self.assertEqual(len(self.violations("nn/relu.cpp", "#include <data/dataset.hpp>\n")), 1)

    def test_reports_an_include_of_tests(self):
        self.assertIn(
            "nobody includes tests",
            self.violations("app/main.cpp", '#include "tests/golden.hpp"\n')[0],
        )

    def test_reports_an_include_without_its_folder(self):
        self.assertEqual(
            self.violations("nn/relu.cpp", '#include "relu.hpp"\n'),
            ['nn/relu.cpp:1: "relu.hpp" is included without its folder'],
        )

    def test_reports_a_header_without_its_guard(self):
        self.assertEqual(
            self.violations("nn/relu.hpp", "// #pragma once\nint a;\n"),
            ["nn/relu.hpp:1: has no #pragma once"],
        )

    def test_reports_a_source_that_does_not_begin_with_its_header(self):
        self.write("nn/relu.hpp", "#pragma once\n")
        self.assert_clean("nn/relu.cpp", '// A ReLU.\n#include "nn/relu.hpp"\n#include <cmath>\n')
        for text in ("int a;\n", '#include <cmath>\n#include "nn/relu.hpp"\n'):
            with self.subTest(text=text):
                self.assertEqual(
                    self.violations("nn/relu.cpp", text),
                    ["nn/relu.cpp:1: does not include nn/relu.hpp before anything else"],
                )

    def test_confines_dependencies_to_their_folders(self):
        for name, header in (
            ("optim/sync.cpp", "mpi.h"),
            ("runtime/trainer.cpp", "hdf5.h"),
            ("runtime/checkpoint.cpp", "zlib.h"),
            ("optim/sgd.cpp", "Eigen/Dense"),
            ("runtime/trainer.cpp", "oneapi/dnnl/dnnl.hpp"),
            ("runtime/trainer.cpp", "boost/program_options.hpp"),
            ("app/options.cpp", "boost/crc.hpp"),
            ("runtime/metrics_file.cpp", "google/protobuf/message_lite.h"),
            ("runtime/metrics_file.cpp", "runtime/tensorboard_event.pb.h"),
        ):
            with self.subTest(header=header):
                (self.root / name).unlink(missing_ok=True)
                found = self.violations(name, f"#include <{header}>\n")
                self.assertEqual(len(found), 1)
                self.assertIn(f"{header} is included outside", found[0])
                (self.root / name).unlink()

    def test_accepts_dependencies_where_they_belong(self):
        self.assert_clean("collectives/session.cpp", "#include <mpi.h>\nint n = MPI_SUCCESS;\n")
        self.assert_clean("data/hdf5_reader.cpp", "#include <hdf5.h>\n#include <zlib.h>\n")
        self.assert_clean("runtime/checkpoint_writer.cpp", "#include <hdf5.h>\n")

    def test_reports_a_name_of_mpi(self):
        self.assertEqual(
            self.violations("runtime/trainer.cpp", "void f() {\n  MPI_Barrier(comm);\n}\n"),
            ["runtime/trainer.cpp:2: MPI_Barrier is used outside collectives/"],
        )

    def test_reports_whatever_prints_or_exits(self):
        for text in (
            "std::cout << 1;", "std::cerr << 1;", 'printf("x");', "std::fputs(text, stderr);",
            "std::exit(1);", "exit (1);", "std::abort();", "std::terminate();",
        ):
            with self.subTest(text=text):
                self.assertEqual(len(self.violations("nn/relu.cpp", text + "\n")), 1)

    def test_lets_the_program_print_but_not_call_mpi(self):
        self.assert_clean("app/main.cpp", "std::cout << 1; std::exit(1);\n")
        self.assertEqual(len(self.violations("app/doctor.cpp", "MPI_Init(0, 0);\n")), 1)

    def test_does_not_mistake_comments_strings_and_other_names(self):
        self.assert_clean("nn/relu.cpp", "// MPI_Init, std::cout\n/* exit(1)\n abort() */ int a;\n")
        self.assert_clean("nn/gelu.cpp", 'auto s = "MPI_Init // exit(1)"; auto r = R"(abort())";\n')
        self.assert_clean("nn/elu.cpp", "std::snprintf(b, n, f); on_exit(1); int n = 1'000;\n")
        self.assert_clean("nn/tanh.cpp", "std::fputs(text, file);\n")

    def test_sees_code_after_a_comment_a_string_and_a_digit_separator(self):
        self.assertEqual(
            self.violations("nn/relu.cpp", "/*\n */ int n = 1'000; auto s = \"a\\\"\"; abort();\n"),
            ["nn/relu.cpp:2: a library folder never prints and never exits, but uses abort"],
        )


class Mirror(Tree):
    def test_accepts_a_source_with_a_test(self):
        self.write("nn/relu.cpp", "")
        self.write("tests/nn/relu_test.cpp", "")
        self.assertEqual(list(check_mirror.gaps(self.root, {})), [])

    def test_reports_a_source_without_a_test(self):
        self.write("nn/relu.cpp", "")
        self.assertEqual(
            list(check_mirror.gaps(self.root, {})), ["nn/relu.cpp: has no tests/nn/relu_test.cpp"]
        )

    def test_reports_exceptions_that_no_longer_hold(self):
        self.write("nn/relu.cpp", "")
        self.write("tests/nn/relu_test.cpp", "")
        found = list(check_mirror.gaps(self.root, {"nn/relu.cpp": "?", "nn/gone.cpp": "?"}))
        self.assertEqual(len(found), 2)
        self.assertIn("but has one", found[0])
        self.assertIn("does not exist", found[1])

    def test_reports_a_test_that_is_not_built(self):
        self.write("tests/nn/CMakeLists.txt", "rubato_test(relu SOURCES relu_test.cpp)")
        self.write("tests/nn/relu_test.cpp", "")
        self.assertEqual(list(check_mirror.unbuilt(self.root)), [])
        self.write("tests/nn/dense_test.cpp", "")
        self.assertEqual(
            list(check_mirror.unbuilt(self.root)),
            ["tests/nn/dense_test.cpp: is named in no CMakeLists.txt of its folder"],
        )


class Names(Tree):
    def twins(self, *texts):
        for number, text in enumerate(texts):
            self.write(f"app/{number}.cpp", f"namespace {{\n\n{text}\n\n}}  // namespace\n")
        return [twin for _, files in check_names.targets(self.root)
                for twin in check_names.twins(files)]

    def test_reports_what_two_files_define(self):
        for text in ("class Row {", "struct Row final : public Base {", "enum class Row {",
                     "constexpr int Row = 3;", "const std::vector<int> Row{1};",
                     "std::string Row(int a, const Text& b = {}) {", "double Row(\n    int a) {"):
            with self.subTest(text):
                self.assertEqual(len(self.twins(text, text)), 1)

    def test_accepts_overloads_and_one_meaning_of_an_alias(self):
        self.assertEqual(self.twins("int row(int a) {", "int row(double a) {"), [])
        self.assertEqual(self.twins("using Row = int;", "using Row =\n    int;"), [])
        self.assertEqual(self.twins("using Row = int;", "using Row = long;"),
                         ["Row is defined in 0.cpp and 1.cpp"])

    def test_knows_the_files_of_a_program(self):
        self.write("tests/nn/CMakeLists.txt",
                   "rubato_test(nn_test SOURCES a.cpp b.cpp c.cpp\n    d.cpp LIBRARIES x)\n"
                   "rubato_mpi_test(other RANKS 1 SOURCES e.cpp LIBRARIES x)\n")
        (_, files), = [each for each in check_names.targets(self.root) if each[0] == "nn_test"]
        self.assertEqual([file.name for file in files], ["a.cpp", "b.cpp", "c.cpp", "d.cpp"])
        self.assertNotIn("other", [name for name, _ in check_names.targets(self.root)])

    def test_knows_the_files_that_a_variable_of_a_list_names(self):
        self.write("tests/nn/CMakeLists.txt",
                   "set(nn_sources\n  a.cpp\n  b.cpp)\nif(HAS_MORE)\n"
                   "  list(APPEND nn_sources c.cpp d.cpp)\nendif()\n"
                   "rubato_test(nn_test SOURCES ${nn_sources} LIBRARIES x)\n")
        (_, files), = [each for each in check_names.targets(self.root) if each[0] == "nn_test"]
        self.assertEqual([file.name for file in files], ["a.cpp", "b.cpp", "c.cpp", "d.cpp"])


class Sizes(Tree):
    def test_accepts_the_limits(self):
        self.write("nn/relu.cpp", ("x" * 100 + "\n") * 300)
        self.assertEqual(list(check_sizes.excesses(self.root, {})), [])

    def test_reports_a_long_file_and_a_long_line(self):
        self.write("nn/relu.cpp", "x\n" * 301)
        self.write("nn/dense.hpp", "\n" + "x" * 101 + "\n")
        self.assertEqual(
            list(check_sizes.excesses(self.root, {})),
            ["nn/dense.hpp:2: has 101 columns, more than 100",
             "nn/relu.cpp: has 301 lines, more than 300"],
        )

    def test_reports_an_exception_that_no_longer_holds(self):
        self.write("nn/relu.cpp", "x\n")
        self.assertEqual(len(list(check_sizes.excesses(self.root, {"nn/relu.cpp": "?"}))), 1)


class WideCode(unittest.TestCase):
    def test_finds_what_other_files_may_define_too(self):
        of = "lib.a:gradient_passes_of_512_bits.cpp.o:0000000000000010"
        self.assertEqual(check_wide_code.shared_symbols(
            f"{of} W rubato::optim::lanes_of_512_bits::look(float const*, unsigned long)\n"
            f"{of} r .LC4\n"
            f"{of} V DW.ref.__gxx_personality_v0\n"  # data
            f"{of} W std::array<double, 16ul>::operator[](unsigned long)\n"
            "lib.a:adam.cpp.o:0000000000000010 W std::span<float>::size() const\n"),
            ["std::array<double, 16ul>::operator[](unsigned long)"])

    def test_looks_at_every_such_file(self):
        of = "lib.a:convolution_passes_of_512_bits.cpp.o:0000000000000010"
        self.assertEqual(check_wide_code.shared_symbols(
            f"{of} T rubato::nn::convolution_kernels_of_512_bits()\n"
            f"{of} W rubato::nn::OneChannelShape::padded_outputs() const\n"),
            ["rubato::nn::OneChannelShape::padded_outputs() const"])

    def test_misses_the_file(self):
        self.assertIsNone(check_wide_code.shared_symbols(
            "lib.a:adam.cpp.o:0000000000000010 W std::span<float>::size() const\n"))


if __name__ == "__main__":
    unittest.main()
