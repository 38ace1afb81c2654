"""rubato plan against the golden vectors of the reference, and against its own contract."""

import binascii
import json
import struct
import unittest

from rubato_command import GOLDEN, CommandTest

CASES = json.loads((GOLDEN / "trace_golden.json").read_text(encoding="utf-8"))


def crc32(numbers):
    return binascii.crc32(struct.pack(f"<{len(numbers)}i", *numbers))


def samples_of_rank(epoch, rank, minibatch):
    """What the reference's loader feeds a rank: its minibatches, sample 0 over and over if idle."""
    samples = []
    for step in epoch["steps"]:
        for number in step["ranks"][rank]:
            samples += epoch["order"][number * minibatch:(number + 1) * minibatch]
        if not step["ranks"][rank]:
            samples += [0] * minibatch
    return samples


class GoldenPlan(CommandTest):
    def plan(self, case, *more, assignment="strided"):
        """The plan of a golden case, as the reference would make it."""
        trace = (["--trace", self.write_trace(case["trace"])] if case["trace"]
                 else ["--batch-size", case["trace_head"][0], "--epochs", len(case["epochs"])])
        return self.succeed(
            "plan", "--format", "json", "--samples", case["dataset_size"],
            "--minibatch", case["minibatch_size"], "--ranks", case["num_ranks"],
            "--seed", case["seed"], "--order", "torch", "--assignment", assignment,
            *trace, *more).json()

    def golden_epochs(self):
        """(golden case, golden epoch, our epoch) of every epoch that the reference completes."""
        for case in CASES["cases"]:
            plan = self.plan(case, "--indices")
            self.assertEqual(plan["minibatches_per_epoch"], case["minibatches_per_epoch"])
            for golden in case["epochs"]:
                if "error" not in golden:
                    yield case, golden, plan["epochs"][golden["epoch"]]

    def test_every_schedule_is_the_references(self):
        compared = 0
        for case, golden, epoch in self.golden_epochs():
            with self.subTest(case=case["name"], epoch=golden["epoch"]):
                self.assertEqual(epoch["epoch"], golden["epoch"])
                self.assertEqual(epoch["trace_begin"], golden["trace_start"])
                self.assertEqual(epoch["trace_end"], golden["trace_end"])
                self.assertEqual(epoch["minibatches_used"], golden["minibatches_used"])
                self.assertEqual(epoch["minibatches_left_over"], golden["minibatches_left_over"])
                self.assertEqual(epoch["samples_left_over"], golden["samples_left_over_incl_tail"])
                self.assertEqual(
                    [(step["step"], step["batch_size"], step["ranks"]) for step in epoch["steps"]],
                    [(step["step"], step["batch"], step["ranks"]) for step in golden["steps"]])
            compared += len(golden["steps"])
        self.assertGreater(compared, 50)  # the vectors were really there

    def test_steps_own_contiguous_ranges_of_whole_minibatches(self):
        for case, _, epoch in self.golden_epochs():
            position = 0
            for step in epoch["steps"]:
                self.assertEqual(step["begin"], position)
                self.assertEqual(set(step["sizes"]), {case["minibatch_size"]})
                self.assertEqual(sum(step["sizes"]), step["batch_size"])
                position += step["batch_size"]

    def test_the_permutations_are_torchs(self):
        for case, golden, epoch in self.golden_epochs():
            whole = self.succeed(
                "plan", "--format", "json", "--indices", "--samples", case["dataset_size"],
                "--ranks", 1, "--minibatch", 1, "--batch-size", case["dataset_size"],
                "--epochs", golden["epoch"] + 1, "--epoch-end", "carry"
            ).json()["epochs"][-1]["order"]
            with self.subTest(case=case["name"], epoch=golden["epoch"]):
                self.assertEqual(whole[:16], golden["perm_head16"])
                self.assertEqual(crc32(whole), golden["perm_crc32_i32le"])
                self.assertEqual(epoch["order"], whole[:case["epoch_capacity_samples"]])

    def test_every_rank_is_fed_the_references_samples(self):
        for case, golden, epoch in self.golden_epochs():
            for loader in golden["dataloader"]:
                fed = samples_of_rank(epoch, loader["rank"], case["minibatch_size"])
                with self.subTest(case=case["name"], epoch=golden["epoch"], rank=loader["rank"]):
                    self.assertEqual(len(fed), loader["batches"] * case["minibatch_size"])
                    self.assertEqual(fed[:case["minibatch_size"]], loader["first_batch"])
                    self.assertEqual(crc32(fed), loader["all_batches_crc32_i32le"])

    def test_blocked_gives_every_rank_as_many_minibatches_as_strided(self):
        def counts(plan):
            return [[[len(rank) for rank in step["ranks"]] for step in epoch["steps"]]
                    for epoch in plan["epochs"]]
        for case in CASES["cases"]:
            strided, blocked = self.plan(case), self.plan(case, assignment="blocked")
            self.assertEqual(counts(strided), counts(blocked))
            self.assertEqual([[sum(step["ranks"], []) for step in epoch["steps"]]
                              for epoch in blocked["epochs"]],
                             [[sorted(sum(step["ranks"], [])) for step in epoch["steps"]]
                              for epoch in strided["epochs"]])


class WhereTheReferenceFails(CommandTest):
    """The golden file's error cases: each is served, or refused with a sentence."""

    def arguments(self, name):
        case = next(case for case in CASES["error_cases"] if case["name"] == name)
        trace = self.write_trace(case["trace"])
        return ["plan", "--format", "json", "--samples", case["dataset_size"], "--minibatch",
                case["minibatch_size"], "--ranks", case["num_ranks"], "--trace", trace]

    def steps(self, name, *more):
        epochs = self.succeed(*self.arguments(name), *more).json()["epochs"]
        return [[step["sizes"] for step in epoch["steps"]] for epoch in epochs]

    def test_a_batch_that_is_no_multiple_ends_in_a_short_minibatch(self):
        self.assertEqual(self.steps("not_multiple"), [[[32, 32], [32, 32, 16], [32]]])

    def test_a_trace_may_end_with_its_epoch(self):
        self.assertEqual(self.steps("exactly_one_epoch", "--epochs", 1), [[[32, 32], [32, 32]]])
        self.assertEqual(self.steps("exactly_two_epochs", "--epochs", 2),
                         [[[32, 32], [32, 32]], [[32, 32, 32, 32]]])
        self.assertEqual(self.steps("one_row_verbose"), [[[32, 32]]])

    def test_what_cannot_be_served_is_refused(self):
        for name, code, words, more in (
                ("too_short", 65, ["trace.csv:3", "the trace ends here"], ["--epochs", 1]),
                ("oversize_step", 65, ["trace.csv:3", "256", "128 samples of an epoch"], []),
                ("zero_batch", 65, ["trace.csv:3", '"0"', "at least 1"], []),
                ("negative_batch", 65, ["trace.csv:3", '"-32"'], []),
                ("float_rows", 65, ["trace.csv:2", '"64.0"', "whole number"], []),
                ("empty_trace", 65, ["trace.csv", "no row"], []),
                ("dataset_smaller_than_minibatch", 64, ["minibatch", "32", "16"], [])):
            with self.subTest(name):
                self.refuse(code, words, *self.arguments(name), *more)

    def test_no_case_of_the_file_is_left_out(self):
        served = {"not_multiple", "exactly_one_epoch", "exactly_two_epochs", "one_row_verbose"}
        refused = {"too_short", "oversize_step", "zero_batch", "negative_batch", "float_rows",
                   "empty_trace", "dataset_smaller_than_minibatch"}
        self.assertEqual({case["name"] for case in CASES["error_cases"]}, served | refused)


class PlanContract(CommandTest):
    def plan(self, *arguments):
        return self.succeed("plan", "--format", "json", *arguments).json()

    def test_carry_splits_an_update_between_epochs(self):
        plan = self.plan("--samples", 10, "--minibatch", 4, "--ranks", 2, "--epoch-end", "carry",
                         "--trace", self.write_trace([8, 7, 15]))
        first, second, third = plan["epochs"]
        self.assertEqual(first["steps"], [
            {"step": 0, "batch_size": 8, "begin": 0, "sizes": [4, 4], "ranks": [[0], [1]]},
            {"step": 1, "batch_size": 7, "begin": 8, "sizes": [2], "ranks": [[2], []],
             "carries_on": True}])
        self.assertEqual(second["steps"], [
            {"step": 0, "batch_size": 7, "begin": 0, "sizes": [4, 1], "ranks": [[0], [1]],
             "carried_from": True},
            {"step": 1, "batch_size": 15, "begin": 5, "sizes": [4, 1], "ranks": [[2, 3], []],
             "carries_on": True}])
        self.assertEqual(third["steps"], [
            {"step": 0, "batch_size": 15, "begin": 0, "sizes": [4, 4, 2], "ranks": [[0], [1, 2]],
             "carried_from": True}])
        rows = [(epoch["trace_begin"], epoch["trace_end"]) for epoch in plan["epochs"]]
        self.assertEqual(rows, [(0, 2), (1, 3), (2, 3)])
        self.assertEqual([epoch["samples_left_over"] for epoch in plan["epochs"]], [0, 0, 0])

    def test_under_carry_the_order_is_the_whole_permutation(self):
        arguments = ["--samples", 10, "--minibatch", 4, "--ranks", 1, "--batch-size", 5,
                     "--epochs", 1, "--indices"]
        drop = self.plan(*arguments)["epochs"][0]["order"]
        carry = self.plan(*arguments, "--epoch-end", "carry")["epochs"][0]["order"]
        self.assertEqual(sorted(carry), list(range(10)))
        self.assertEqual(carry[:8], drop)

    def test_the_assignment_moves_minibatches_between_ranks_only(self):
        arguments = ["--samples", 100, "--minibatch", 10, "--ranks", 3, "--updates", 1,
                     "--batch-size", 80]
        ranks = {name: self.plan(*arguments, "--assignment", name)["epochs"][0]["steps"][0]["ranks"]
                 for name in ("strided", "blocked")}
        self.assertEqual(ranks["strided"], [[0, 3, 6], [1, 4, 7], [2, 5]])
        self.assertEqual(ranks["blocked"], [[0, 1, 2], [3, 4, 5], [6, 7]])

    def test_seed_and_order_choose_the_permutation(self):
        arguments = ["--samples", 50, "--ranks", 1, "--batch-size", 32, "--epochs", 2, "--indices"]
        orders = [json.dumps([epoch["order"] for epoch in self.plan(*arguments, *more)["epochs"]])
                  for more in ([], ["--seed", 7], ["--order", "feistel"],
                               ["--order", "feistel", "--seed", 7])]
        self.assertEqual(len(set(orders)), 4)

    def test_the_size_comes_from_a_data_set(self):
        plan = self.plan("--data", "digits", "--ranks", 2, "--batch-size", 64, "--epochs", 1)
        self.assertEqual(plan["samples"], 1438)

    def test_a_long_plan_is_made_in_time(self):
        result = self.succeed("plan", "--samples", 60000, "--minibatch", 8, "--ranks", 4,
                              "--batch-size", 8, "--epochs", 10)
        self.assertLess(result.seconds, 10)
        self.assertIn("in all 75000 updates, 600000 samples", result.output)

    def test_the_table_says_what_is_idle_and_what_is_left_over(self):
        result = self.succeed("plan", "--samples", 200, "--ranks", 3, "--trace",
                              self.write_trace([64, 96, 64, 64, 64, 40]))
        for words in ("1 1 0", "2 updates, 5 minibatches, 160 samples; left over: 1 minibatch, "
                      "40 samples", "         0-2", "(last one: 8 samples)",
                      "(the run ends within this epoch)", "in all 6 updates, 392 samples"):
            self.assertIn(words, result.output)


if __name__ == "__main__":
    unittest.main()
