"""rubato trace: what it shows, checks and makes; and the traces that come with the examples."""

import pathlib
import unittest

from rubato_command import CommandTest

TRACES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "traces"


def sizes(text):
    rows = [line for line in text.splitlines() if not line.startswith("#")]
    assert rows[0] == "step,batchsize"
    steps, batches = zip(*(map(int, row.split(",")) for row in rows[1:]))
    assert list(steps) == list(range(len(steps)))
    return list(batches)


class Show(CommandTest):
    def test_json_has_every_row(self):
        trace = self.write("t.csv", "# why\n step, batchsize\n 0, 64\n 1, 96\n 2, 32\n")
        shown = self.succeed("trace", "show", trace, "--format", "json").json()
        self.assertEqual(shown, {"file": str(trace), "rows": 3, "samples": 192, "smallest": 32,
                                 "largest": 96, "mean": 64.0, "batch_sizes": [64, 96, 32]})

    def test_rows_of_a_sparse_trace_hold_until_the_next_one(self):
        trace = self.write("t.csv", "update,batchsize,minibatch,epoch\n0,64,32,0\n9,96,48,2\n")
        shown = self.succeed("trace", "show", trace, "--format", "json").json()
        self.assertEqual(shown, {"file": str(trace), "rows": 2, "smallest": 64, "largest": 96,
                                 "batch_sizes": [64, 96], "updates": [0, 9],
                                 "minibatches": [32, 48], "epochs": [0, 2]})
        self.assertIn("2 rows, each of which holds until the next one's update; the last one "
                      "begins at update 9\n", self.succeed("trace", "show", trace).output)
        trace = self.write("one.csv", "update,batchsize\n0,64\n")
        self.assertIn("one.csv: 1 row, which holds from update 0 on\n",
                      self.succeed("trace", "show", trace).output)

    def test_the_chart_rises_with_the_batch_size(self):
        shown = self.succeed("trace", "show", self.write_trace([32] * 30 + [512] * 30)).output
        bars = [line.split("|")[1] for line in shown.splitlines() if "|" in line]
        self.assertEqual(len(bars), 10)
        self.assertEqual(bars[0], " " * 30 + "#" * 30)
        self.assertEqual(bars[-1], "#" * 60)
        self.assertIn("logarithmic", shown)


class Check(CommandTest):
    def test_epochs_and_what_they_leave_over(self):
        trace = self.write_trace([64, 96, 64, 64, 64, 40])
        checked = self.succeed("trace", "check", trace, "--samples", 200, "--format", "json").json()
        self.assertTrue(checked["ok"])
        self.assertEqual(
            [(e["trace_begin"], e["trace_end"], e["samples_left_over"], e["complete"])
             for e in checked["epochs"]],
            [(0, 2, 40, True), (2, 5, 8, True), (5, 6, 160, False)])
        text = self.succeed("trace", "check", trace, "--samples", 200).output
        self.assertRegex(text, r"ok: .*trace.csv serves 6 updates on 200 samples\n$")

    def test_a_sparse_trace_serves_as_long_as_one_wishes(self):
        trace = self.write("t.csv", "update,batchsize,epoch\n0,64,0\n2,50,1\n")
        checked = self.succeed("trace", "check", trace, "--samples", 200, "--epochs", 3, "--format",
                               "json").json()
        self.assertEqual([(e["trace_begin"], e["trace_end"]) for e in checked["epochs"]],
                         [(0, 2), (2, 5), (5, 8)])
        text = self.succeed("trace", "check", trace, "--samples", 200, "--epochs", 3).output
        self.assertRegex(text, r"epoch +updates +number ")  # of updates: there are but two rows
        self.assertRegex(text, r"\n +1 +2-4 +3 +150 ")
        self.refuse(64, ["the plan has no end: give --epochs N or --updates N"], "trace", "check",
                    trace, "--samples", 200)

    def test_the_traces_of_the_examples_serve_digits(self):
        traces = sorted(path.name for path in TRACES.glob("*.csv"))
        self.assertEqual(traces, ["constant.csv", "doubling.csv", "growing.csv", "random-walk.csv",
                                  "reference.csv", "steps.csv"])
        for name in traces:
            with self.subTest(name):
                options = ["--epoch-end", "carry"] if name == "reference.csv" else []
                self.succeed("trace", "check", TRACES / name, "--data", "digits", *options)


class Make(CommandTest):
    def make(self, *arguments):
        return sizes(self.succeed("trace", "make", *arguments).output)

    def test_shapes(self):
        self.assertEqual(self.make("constant", "--rows", 3, "--batch-size", 48), [48, 48, 48])
        self.assertEqual(self.make("steps", "--rows", 7, "--batch-sizes", "64,32,128"),
                         [64, 64, 64, 32, 32, 128, 128])
        self.assertEqual(self.make("doubling", "--rows", 8, "--batch-size", 10, "--every", 2,
                                   "--most", 50), [10, 10, 20, 20, 40, 40, 50, 50])

    def test_a_random_walk_keeps_its_bounds_and_its_step(self):
        arguments = ["random-walk", "--rows", 500, "--batch-size", 96, "--minibatch", 16,
                     "--least", 40, "--most", 250, "--jump", 3]
        walk = self.make(*arguments)
        self.assertEqual(walk[0], 96)
        self.assertEqual({size % 16 for size in walk}, {0})
        self.assertEqual((min(walk), max(walk)), (48, 240))
        moves = {(b - a) // 16 for a, b in zip(walk, walk[1:])}
        self.assertEqual(moves, {-3, -2, -1, 0, 1, 2, 3})
        self.assertEqual(walk, self.make(*arguments))
        self.assertNotEqual(walk, self.make(*arguments, "--seed", 43))

    def test_a_random_walk_is_split_mix(self):
        def split_mix(x):
            mask = 2**64 - 1
            x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & mask
            x = (x ^ x >> 27) * 0x94d049bb133111eb & mask
            return x ^ x >> 31
        expected, size = [], 10
        for row in range(40):
            expected.append(size * 8)
            move = split_mix(7 + (row + 1) * 0x9e3779b97f4a7c15 & 2**64 - 1) % 5 - 2
            size = min(max(size + move, 1), 20)
        self.assertEqual(expected, self.make(
            "random-walk", "--rows", 40, "--batch-size", 80, "--minibatch", 8, "--least", 8,
            "--most", 160, "--jump", 2, "--seed", 7))

    def test_a_file_is_replaced_only_when_told(self):
        arguments = ["trace", "make", "constant", "--rows", 2, "--out", "t.csv", "--batch-size"]
        self.assertEqual(self.succeed(*arguments, 8).output, "")
        self.refuse(73, ["t.csv exists", "--overwrite"], *arguments, 9)
        self.assertEqual(sizes((self.directory / "t.csv").read_text()), [8, 8])
        self.succeed(*arguments, 9, "--overwrite")
        self.assertEqual(sizes((self.directory / "t.csv").read_text()), [9, 9])
        self.assertEqual([path.name for path in self.directory.iterdir()], ["t.csv"])

    def test_what_makes_no_trace(self):
        for code, words, arguments in (
                (64, ["SHAPE is missing"], []),
                (64, ["give --rows N"], ["constant", "--batch-size", 8]),
                (64, ["give --batch-size N"], ["constant", "--rows", 8]),
                (64, ["give --batch-sizes N,N,..."], ["steps", "--rows", 8]),
                (64, ["give --every N"], ["doubling", "--rows", 8, "--batch-size", 8]),
                (64, ["--every does not apply to the shape constant"],
                 ["constant", "--rows", 8, "--batch-size", 8, "--every", 2]),
                (64, ["--batch-sizes 8,,9", 'found ""'],
                 ["steps", "--rows", 8, "--batch-sizes", "8,,9"]),
                (64, ["2 rows for 3 batch sizes"],
                 ["steps", "--rows", 2, "--batch-sizes", "8,9,8"]),
                (64, ["--batch-size 40: expected a multiple of the minibatch (32)"],
                 ["random-walk", "--rows", 2, "--batch-size", 40]),
                (64, ["bounds 33 and 63"],
                 ["random-walk", "--rows", 2, "--batch-size", 32, "--least", 33, "--most", 63]),
                (64, ["4294967296", "2147483647"],
                 ["constant", "--rows", 2, "--batch-size", 2**32]),
                (64, ["--rows 10000001: expected at most"],
                 ["constant", "--rows", 10000001, "--batch-size", 2]),
                (73, ["nowhere"],
                 ["constant", "--rows", 2, "--batch-size", 2, "--out", "nowhere/t.csv"])):
            with self.subTest(arguments=arguments):
                self.refuse(code, words, "trace", "make", *arguments)


class FromCapacity(CommandTest):
    # Some rows of a recorded history of GPUs on a shared cluster.
    RECORDED = (",Time,GPUs\n0,1652434464.406314,56\n1,1652434527.406314,48\n"
                "2,1652434590.406314,53\n3,1652434653.406314,0\n")

    def make(self, *arguments, history=RECORDED):
        return self.succeed("trace", "from-capacity", self.write("h.csv", history), *arguments)

    def test_batches_follow_the_devices(self):
        made = self.make("--samples-per-device", 4, "--updates-per-row", 2)
        self.assertEqual(sizes(made.output), [224, 224, 192, 192, 212, 212])
        self.assertEqual(made.message, "rubato: 4 rows make 6 updates; "
                                       "1 rows with too few devices are left out\n")

    def test_the_file_serves_a_run(self):
        made = self.make("--samples-per-device", 2, "--least-devices", 50, "--out", "t.csv")
        self.assertEqual(made.output, "")
        self.assertEqual(sizes((self.directory / "t.csv").read_text()), [112, 106])
        self.succeed("trace", "check", "t.csv", "--samples", 500)

    def test_refusals(self):
        history = self.write("h.csv", self.RECORDED)
        wrong = self.write("w.csv", "time,GPUs\n0,4\n1,four\n")
        for code, words, arguments in (
                (64, ["FILE.csv is missing"], []),
                (64, ["give --samples-per-device N"], [history]),
                (64, ["--least-devices 57", "the largest has 56"],
                 [history, "--samples-per-device", 1, "--least-devices", 57]),
                (65, ["w.csv:3:3:", 'found "four"'], [wrong, "--samples-per-device", 1]),
                (65, ['one column "TPUs"'],
                 [history, "--samples-per-device", 1, "--column", "TPUs"]),
                (66, ["nowhere.csv"], ["nowhere.csv", "--samples-per-device", 1])):
            with self.subTest(arguments=arguments):
                self.refuse(code, words, "trace", "from-capacity", *arguments)


if __name__ == "__main__":
    unittest.main()
