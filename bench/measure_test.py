"""The measurements' own arithmetic: figures and bars, costs of models, the formula."""

import dataclasses
import math
import pathlib
import random
import tempfile
import unittest
import unittest.mock as mock

import allreduce
import measure
import model_costs
import optimizer_step
import rubato_train
import scaling_model
import update_costs
import update_phases
import vs_pytorch
from measure import Figure
from scaling_model import Model, Point

CONSTANTS = {"fixed": 2e-5, "arithmetic": 1.3e-11, "adding": 3e-10, "summing": 4e-10,
             "stepping": 9e-10, "crowding": 2e-4, "messages": 3e-5, "handling": 1e-9, "wire": 9e-9}


class Figures(unittest.TestCase):
    def test_are_medians_with_their_spread(self):
        figure = Figure.of_rounds("speed", [3.0, 1.0, 2.0, 9.0, 2.5], "x")
        self.assertEqual((figure.lowest, figure.value, figure.highest), (1.0, 2.5, 9.0))

    def test_clear_a_bar_from_its_right_side(self):
        self.assertTrue(Figure("a", 2.0, at_least=2.0).is_met)
        self.assertFalse(Figure("a", 1.9, at_least=2.0).is_met)
        self.assertTrue(Figure("a", -1.0, at_most=0.0).is_met)
        self.assertFalse(Figure("a", 0.1, at_most=0.0).is_met)
        self.assertIsNone(Figure("a", 1.0).is_met)

    def test_show_a_missed_bar_in_their_row(self):
        self.assertIn(">= 2.00 x", Figure("a", 1.5, "x", at_least=2).row())
        self.assertIn("MISSED", Figure("a", 1.5, "x", at_least=2).row())

    def test_say_whether_all_rounds_are_on_one_side_of_the_bar(self):
        values = [1.8, 1.9, 2.1]
        for bars, verdict in (({"at_least": 2}, "MISSED ~"), ({"at_least": 1.8}, "met ~"),
                              ({"at_least": 1.7}, "met"), ({"at_most": 1.7}, "MISSED"),
                              ({"at_most": 1.85}, "MISSED ~"), ({}, "2.10 x")):
            row = Figure.of_rounds("a", values, "x", **bars).row()
            self.assertTrue(row.endswith(verdict), row)
        self.assertNotIn("~", Figure.of_rounds("a", [2.0], "x", at_least=2).row())

    def test_sides_take_turns(self):
        calls = []
        rounds = measure.in_turn(2, {"a": lambda: calls.append("a") or len(calls),
                                     "b": lambda: calls.append("b") or len(calls)})
        self.assertEqual(calls, ["a", "b", "a", "b"])
        self.assertEqual(rounds, {"a": [1, 3], "b": [2, 4]})


class Costs(unittest.TestCase):
    def test_parameters_are_those_of_the_papers(self):
        for model, parameters in (("mlp:512,512", 669_706), ("mnist-tutorial", 1_199_882),
                                  ("resnet20", 272_474), ("resnet50", 25_557_032)):
            self.assertEqual(model_costs.parameters_of(model), parameters, model)

    def test_the_first_layer_needs_no_input_gradient(self):
        first, second = 2 * 784 * 28, 2 * 28 * 10
        self.assertEqual(model_costs.flops_per_sample("mlp:28"), 2 * first + 3 * second)

    def test_a_convolution_multiplies_at_every_pixel_of_its_output(self):
        self.assertEqual(model_costs.Matrix((64, 32, 3, 3), 100).forward_flops,
                         2 * 64 * 32 * 9 * 100)


class Cases(unittest.TestCase):
    def asked_for(self, *words):
        options = rubato_train.case_parser("").parse_args(
            ["--models", "mnist", "--ranks", "1", "2", "--substeps", "4", "8", *words])
        return [(case.model, case.ranks, case.substeps) for case in rubato_train.cases(options)]

    def test_are_all_that_were_asked_for(self):
        self.assertEqual(self.asked_for(), [("mnist", 1, 4), ("mnist", 1, 8),
                                            ("mnist", 2, 4), ("mnist", 2, 8)])

    def test_are_fewer_where_it_must_be_quick(self):
        self.assertEqual(self.asked_for("--quick"), [("mnist", 1, 4), ("mnist", 2, 4)])


class Phases(unittest.TestCase):
    @staticmethod
    def event(thread, category, name, milliseconds, update):
        return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread,
                "ts": 0, "dur": 1000 * milliseconds, "args": {"update": update}}

    def test_are_added_up_for_each_update_of_rank_0(self):
        names = [{"ph": "M", "name": "thread_name", "pid": 1, "tid": thread,
                  "args": {"name": f"rank {rank}"}} for thread, rank in ((7, 1), (3, 0))]
        found = update_phases.phases_of_updates([
            *names, self.event(3, "phase", "starting", 100, 0),
            self.event(3, "update", "update 2", 9, 2), self.event(3, "phase", "computing", 4, 2),
            self.event(3, "update", "update 1", 8, 1), self.event(3, "phase", "computing", 3, 1),
            self.event(3, "phase", "summing", 1, 1), self.event(3, "phase", "computing", 2, 1),
            self.event(7, "phase", "computing", 50, 1)])
        milliseconds = [{name: round(1000 * seconds, 6) for name, seconds in update.items()}
                        for update in found]
        self.assertEqual(milliseconds, [{"update": 8, "computing": 5, "summing": 1},
                                        {"update": 9, "computing": 4}])


class Peer(unittest.TestCase):
    def test_gets_the_fastest_kernels_that_the_processor_can_run(self):
        seconds = {None: 4, "Haswell": 2, "SkylakeX": 1}
        for features, fastest in (("sse2", None), ("sse2 avx2", "Haswell"),
                                  ("avx2 avx512f avx512vl", "SkylakeX")):
            with mock.patch("measure.cpu_fact", return_value=features):
                found = vs_pytorch.fastest_blas_kernels(
                    lambda setting: seconds[setting.get(vs_pytorch.BLAS_KERNELS)])
            self.assertEqual(found.get(vs_pytorch.BLAS_KERNELS), fastest)

    def test_keeps_its_own_choice_where_that_is_fastest(self):
        with mock.patch("measure.cpu_fact", return_value="avx2 avx512vl"):
            self.assertEqual(vs_pytorch.fastest_blas_kernels(lambda setting: len(setting)), {})


class OptimizerSteps(unittest.TestCase):
    def test_of_two_processes_the_slower_counts_and_of_ways_the_faster(self):
        self.assertEqual(optimizer_step.fastest_way([5, 1, 4], [6, 9, 3]), 4)

    def test_ours_stand_over_pytorchs(self):
        rounds = {"rubato": [{"adam": 8, "read 4": 12}], "pytorch": [{"adam": 2}],
                  "ranks": [{"adam": 27}], "pytorch, processes": [{"adam": 3}]}
        figures = list(optimizer_step.beside_pytorch(rounds, "adam"))
        self.assertEqual([figure.value for figure in figures], [4, 6, 9])
        self.assertEqual([figure.at_least for figure in figures], [5, None, None])


class TableOfSums(unittest.TestCase):
    def test_cells_are_found_by_elements_and_way(self):
        table = ("allreduce of floats: 2 ranks, 2 nodes\n"
                 "  elements | library              | slices, exact       \n"
                 "         1 |      0.5 us   1.0x  90 % |      0.4 us   1.4x 100 %\n"
                 "      1000 |     12.0 us   1.0x  91 % |   1250.5 us   0.1x  85 %\n")
        rows = allreduce.rows_of(table)
        self.assertEqual(list(rows), [1, 1000])
        self.assertEqual(rows[1000]["library"], [12.0, 1.0, 91])
        self.assertEqual(rows[1000][allreduce.EXACT], [1250.5, 0.1, 85])


class Fit(unittest.TestCase):
    def points(self, noise):
        rounding = random.Random(1)
        made = []
        for _, link, lines in update_costs.plan(is_quick=False):
            for hosts, case in lines:
                one = Point(case.model, case.ranks, hosts, case.substeps, case.minibatch,
                            model_costs.parameters_of(case.model),
                            model_costs.flops_per_sample(case.model), cores=2, link=link)
                one.seconds = Model(CONSTANTS).seconds(one) * rounding.uniform(1 - noise, 1 + noise)
                made.append(one)
        return made

    def test_amounts_are_those_of_the_formula(self):
        case = Point("mlp:28", ranks=6, hosts=3, substeps=4, minibatch=8, parameters=50_000,
                     flops=100, cores=2)
        self.assertEqual(scaling_model.term_amounts(case), {
            "fixed": 1, "arithmetic": 3 * 4 * 8 * 100, "adding": 3 * 4 * 50_000,
            "summing": 3 * 50_000, "stepping": 3 * 25_000, "crowding": 2,
            "messages": 3 * 2 * 2 * 2,  # to two hosts, out and back, of two buckets of 3 x 8192
            "handling": 3 * (9 * 50_000 * 2 / 3 + 96 * 24 + 48 * 6) / 2,
            "wire": 9 * 50_000 * 2 / 3 + 96 * 24 + 48 * 6})

    def test_sends_fewer_bytes_where_each_host_has_one_minibatch(self):
        case = Point("mlp:28", ranks=3, hosts=3, substeps=1, minibatch=8, parameters=60_000,
                     flops=100, cores=3)
        one_each = scaling_model.term_amounts(case)["wire"]
        self.assertEqual(one_each, 8 * 60_000 * 2 / 3 + 96 * 3 + 48 * 3)
        case.substeps = 2
        self.assertEqual(scaling_model.term_amounts(case)["wire"] - one_each, 40_000 + 96 * 3)
        case.substeps, case.ranks = 1, 6
        self.assertEqual(scaling_model.term_amounts(case)["wire"] - one_each,
                         40_000 + (96 + 48) * 3)

    def test_what_the_cores_send_hides_behind_a_narrow_link_and_a_wide_one_behind_them(self):
        case = Point("mlp:28", ranks=2, hosts=2, substeps=1, minibatch=8, parameters=8192, flops=0,
                     cores=2)
        bytes_of_host = 8 * 8192 / 2 + 96 * 2 + 48 * 2
        constants = {**dict.fromkeys(CONSTANTS, 0), "messages": 3e-5, "handling": 1e-9}
        by_cores, by_wire = 2 * 3e-5 + 1e-9 * bytes_of_host, 9e-9 * bytes_of_host
        self.assertLess(by_cores, by_wire)
        for link, wire, expected in (("narrow", 9e-9, by_wire), ("wide", 9e-9, by_cores),
                                     ("narrow", 1e-12, 1e-12 * bytes_of_host),
                                     ("as computed", 9e-9, by_wire),
                                     ("as computed", 1e-12, by_cores)):
            case.link = link
            self.assertAlmostEqual(Model({**constants, "wire": wire}).seconds(case), expected,
                                   places=12)

    def test_the_planned_cases_tell_all_constants_apart(self):
        fitted = scaling_model.fit(self.points(noise=0)).constants
        for term, constant in CONSTANTS.items():
            self.assertTrue(math.isclose(fitted[term], constant, rel_tol=1e-3), term)

    def test_noise_makes_no_constant_negative_and_spares_the_large_ones(self):
        fitted = scaling_model.fit(self.points(noise=0.1)).constants
        self.assertGreaterEqual(min(fitted.values()), 0)
        for term, most in (("arithmetic", 0.1), ("wire", 0.1), ("messages", 0.5),
                           ("handling", 0.5)):
            self.assertTrue(math.isclose(fitted[term], CONSTANTS[term], rel_tol=most), term)

    def test_reads_what_is_in_a_file_or_in_its_folder(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            file = folder / "update_costs.json"
            with self.assertRaises(SystemExit) as caught:
                scaling_model.read_results(folder)
            self.assertEqual(str(caught.exception), f"{file}: No such file or directory; "
                             "update_costs.py writes it")
            file.write_text('{"points": [7]}', encoding="utf-8")
            for path in (folder, file):
                self.assertEqual(scaling_model.read_results(path), {"points": [7]})

    def test_says_what_breaks_first(self):
        slow_network = Model({**CONSTANTS, "wire": 1e-6})
        text = scaling_model.prediction(slow_network, scaling_model.Cluster(models=("resnet20",)))
        self.assertIn("what breaks first: wire at 64 ranks", text)
        no_network = Model({**CONSTANTS, "wire": 0, "messages": 0, "handling": 0})
        text = scaling_model.prediction(no_network, scaling_model.Cluster(models=("resnet20",)))
        self.assertIn("nothing up to 4096 ranks", text)
        self.assertIn("links: not measured, not counted; sending by the cores: not measured", text)

    def test_of_another_network_is_not_held_to_what_was_measured(self):
        model = Model(dict(CONSTANTS))
        text = scaling_model.report(model, self.points(noise=0), scaling_model.Cluster(), gbit=25,
                                    message_us=5)
        self.assertIn("half of the 60 cases are within 0 % of the formula", text)
        self.assertIn(f"  wire        {CONSTANTS['wire']:>12.3g} s/byte of a host", text)
        self.assertIn("25.00 Gbit/s a host; 5.0 us a message and 1.00 ns a byte for a rank", text)
        self.assertEqual(model.constants, CONSTANTS)

    def test_of_a_link_without_speed_is_refused(self):
        for text in ("0", "-1", "nan", "inf", "fast"):
            self.assertRaises(ValueError, scaling_model.positive, text)
        self.assertEqual(scaling_model.positive("0.5"), 0.5)

    def test_of_messages_that_give_time_back_is_refused(self):
        for text in ("-1", "nan", "inf", "fast"):
            self.assertRaises(ValueError, scaling_model.not_negative, text)
        for text in ("0", "0.5"):
            self.assertEqual(scaling_model.not_negative(text), float(text))

    def test_of_hosts_without_ranks_is_refused(self):
        for text in ("0", "-1", "1.5", "many"):
            self.assertRaises(ValueError, scaling_model.count, text)
        self.assertEqual(scaling_model.count("16"), 16)


if __name__ == "__main__":
    unittest.main()
