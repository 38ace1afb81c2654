"""rubato report: one page of runs and studies, drawn by gnuplot, that opens offline; and what it
refuses to draw."""

import html.parser
import os
import pathlib
import re
import shutil
import unittest
import xml.etree.ElementTree

from rubato_command import CommandTest, rubato

STUDY = """[study]
name = Rates & <batches>
out = study
[common]
data = digits
model = mlp:16
epochs = 2
[grid]
batch-size = 32, 64
seed = 1, 2
[variant tame]
lr = 0.05 * k
[variant "wild" & <b>]
lr = 1e20
"""
VOID = {"meta", "br", "link", "img"}
SVG = "{http://www.w3.org/2000/svg}"


class Page(html.parser.HTMLParser):
    """Checks that elements are nested, and collects what is in them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.references, self.texts = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open
        self.pictures = [xml.etree.ElementTree.fromstring(picture)
                         for picture in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self.handle_startendtag(tag, attrs)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src", "xlink:href", "data", "action"):
                self.references.append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        self.texts.append(data)


class ReportTest(CommandTest):
    def train(self, out, *options):
        self.succeed("train", "--data", "digits", "--model", "linear", "--out", out, *options)

    def page(self, name="report.html"):
        text = (self.directory / name).read_text(encoding="utf-8")
        page = Page(text)
        self.check_offline(text, page)
        return page, text

    def check_offline(self, text, page):
        """Nothing is fetched, nothing runs, and each reference is to something in the page."""
        self.assertEqual(set(re.findall(r"https?://[^\"'\s]*", text)),
                         {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"})
        self.assertFalse({"script", "link", "img", "iframe", "object"} & set(page.tags))
        self.assertNotIn("@import", text)
        self.assertEqual(len(page.ids), len(set(page.ids)), "ids are unique")
        self.assertLessEqual({one.removeprefix("#") for one in page.references}, set(page.ids))
        self.assertIn('<html lang="en">', text)
        self.assertEqual(page.tags.count("title"), 1)

    def labels(self, page):
        return {" ".join(text.itertext()).strip() for picture in page.pictures
                for text in picture.iter(f"{SVG}text")}


class Drawn(ReportTest):
    def test_runs(self):
        trace = self.write_trace([32] * 20 + [96] * 20 + [320] * 5)
        self.train("a", "--trace", trace, "--rule", "adascale")
        self.train("b <i>&\"'", "--batch-size", 64, "--updates", 30)
        result = self.succeed("report", "a", "b <i>&\"'")
        self.assertEqual((result.output, result.message), ("report: report.html\n", ""))
        page, text = self.page()
        self.assertTrue("<td>b &lt;i&gt;&amp;&quot;&#39;</td><td>finished</td><td>30</td>" in text)
        self.assertLessEqual(
            {"test accuracy (%)", "test loss (nats)", "training loss (nats)", "learning rate",
             "training samples (thousands)", "progress (updates of the reference batch)",
             "batch size (samples)", "noise scale (samples)",
             "gain (no unit)"}, self.labels(page))
        for fact in ("revision", "kernels", "training samples", "batch-size", "momentum"):
            self.assertIn(fact, page.texts)
        self.succeed("report", "a", "b <i>&\"'", "--output", "again.html")
        self.assertEqual((self.directory / "again.html").read_text(), text, "the same bytes")

    def test_a_study_with_what_diverged(self):
        self.write("study.ini", STUDY)
        result = self.succeed("study", "study.ini", "--ranks", 1)
        self.assertEqual(result.output.splitlines()[-1], "report: study/report.html")
        page, text = self.page("study/report.html")
        self.assertIn("Study Rates & <batches>", page.texts)
        self.assertIn("8 cells are over, 4 of them diverged.", page.texts)
        self.assertLessEqual({"batch size (samples)", "best test accuracy (%)", "32", "64",
                              "training time (s)", "tame", "test accuracy (%)"},
                             self.labels(page))
        self.assertIn("(nan)", page.texts)
        self.assertIn("batch 64 (all 2 diverged)", page.texts)
        self.assertIn(STUDY, page.texts)
        self.check_table(text)
        self.succeed("report", "study")
        self.assertEqual((self.directory / "report.html").read_text(), text)

    def check_table(self, text):
        """Has the rows of results.md."""
        lines = (self.directory / "study/results.md").read_text().splitlines()
        rows = [line for line in lines if re.match(r"\| \d", line)]
        self.assertEqual(len(rows), 4)
        for row in rows:
            cells = [cell.strip().removesuffix("<br>(base line)") for cell in row.split("|")[1:-1]]
            self.assertTrue("".join(f"<td>{cell}</td>" for cell in cells) in text, row)


class Refusals(ReportTest):
    def test_of_directories(self):
        self.write("empty/notes", "")
        self.write("young/metrics.jsonl", '{"type":"context"}\n')
        self.write("begun/study.ini", STUDY)
        self.write("broken/study.ini", "[study]\nname = x\n[commn]\n")
        for code, words, name in (
                (66, ["none does not exist", "rubato train --out"], "none"),
                (66, ["empty/notes is no directory"], "empty/notes"),
                (66, ["empty has neither metrics.jsonl nor study.ini"], "empty"),
                (65, ["young/metrics.jsonl tells of no update yet"], "young"),
                (65, ["begun is a study none of whose cells has come to its end"], "begun"),
                (65, ["broken/study.ini:3:", "commn"], "broken")):
            with self.subTest(name=name):
                self.refuse(code, words, "report", name)
        self.assertFalse((self.directory / "report.html").exists())

    def test_of_options(self):
        self.refuse(64, ["did you mean --output?"], "report", "x", "--outptu", "y")
        self.refuse(64, ["DIR... is missing"], "report", "--output", "y")
        self.refuse(73, ["no/where.html: the directory no does not exist"], "report", "x",
                    "--output", "no/where.html")
        self.refuse(73, [". is a directory"], "report", "x", "--output", ".")
        self.assertIn("gnuplot-nox", self.succeed("report", "--help").output)

    def test_without_gnuplot(self):
        self.write("young/metrics.jsonl", '{"type":"update","samples":1,"loss":1.0}\n'
                                          '{"type":"update","samples":2,"loss":0.5}\n')
        environment = {**os.environ, "PATH": str(self.directory)}
        self.refuse(71, ["gnuplot", "install the Debian package gnuplot-nox"], "report", "young",
                    env=environment)
        self.assertFalse((self.directory / "report.html").exists())

    def test_of_a_study_without_gnuplot(self):
        """It ends well, with its other results."""
        self.write("study.ini", STUDY.replace("seed = 1, 2", "seed = 1"))
        tools = self.directory / "tools"
        tools.mkdir()
        for folder in os.environ["PATH"].split(":"):
            for tool in pathlib.Path(folder).glob("*"):
                if tool.name != "gnuplot" and not (tools / tool.name).exists():
                    (tools / tool.name).symlink_to(tool)
        self.assertIsNone(shutil.which("gnuplot", path=str(tools)))
        launcher = shutil.which(os.environ["RUBATO_MPIEXEC"])
        result = rubato("study", "study.ini", "--ranks", 1, "--mpirun", launcher,
                        directory=self.directory, env={**os.environ, "PATH": str(tools)})
        self.assertEqual(result.code, 0, result.message)
        self.assertRegex(result.message,
                         r"\Arubato: warning: no report.html: [^\n]*gnuplot-nox\n\Z")
        self.assertEqual(result.output.splitlines()[-1], "results: study/results.md, .csv, .json")
        self.assertTrue((self.directory / "study/results.json").exists())
        self.assertFalse((self.directory / "study/report.html").exists())


if __name__ == "__main__":
    unittest.main()
