"""Training speed beside PyTorch's DistributedDataParallel, both in turn on this machine.

usage: vs_pytorch.py --rubato build/app/rubato [--rounds 5] [--seconds 4] [--models MODEL ...]
                     [--substeps 1 4] [--ranks 2] [--format text|json]

Each round runs one side, then the other (A B A B ...), so that a change of the machine's mood meets
both; a round's ratio is of neighbours in time, and the spread of these ratios says how far to trust
the ratio of the medians. Ours is `rubato train` as a user runs it: real images through the loader,
the exact sum, its metrics written. Theirs (pytorch_ddp.py) computes on one minibatch in memory.
Exit status 77 where a package is missing; the reference BLAS, which libblas3 installs, counts as
one: PyTorch's matrix products are ten times slower with it than with OpenBLAS.
"""

import argparse
import dataclasses
import datetime
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

MINIBATCH = 32
WARM_UP_UPDATES = 3  # first touches of memory, and the exact sum's search for its units
FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")  # of dataset-fashion-mnist
HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Case:
    model: str
    substeps: int  # of each rank, in an update
    ranks: int

    @property
    def batch_size(self):
        return MINIBATCH * self.substeps * self.ranks


@dataclasses.dataclass
class Comparison:
    case: Case
    ours: list  # samples per second of each round
    theirs: list

    def summary(self):
        ratios = [ours / theirs for ours, theirs in zip(self.ours, self.theirs)]
        ours, theirs = statistics.median(self.ours), statistics.median(self.theirs)
        return {"model": self.case.model, "substeps": self.case.substeps, "ranks": self.case.ranks,
                "batch_size": self.case.batch_size,
                "rubato": ours, "pytorch": theirs, "ratio": ours / theirs,
                "lowest_ratio": min(ratios), "highest_ratio": max(ratios),
                "rubato_rounds": self.ours, "pytorch_rounds": self.theirs}


class Rubato:
    def __init__(self, program, data):
        self.program, self.data = program, data
        self.environment = {  # as root, as in containers, mpirun wants to be told twice
            **os.environ, "OMP_NUM_THREADS": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def update_seconds(self, case, updates):
        """What each update after the first few took, from the run's own metrics."""
        with tempfile.TemporaryDirectory() as directory:
            run(["mpirun", "-q", "--oversubscribe", "-n", case.ranks, self.program, "train",
                 "--data", self.data, "--model", case.model, "--minibatch", MINIBATCH,
                 "--batch-size", case.batch_size, "--updates", updates + WARM_UP_UPDATES,
                 "--sum", "exact", "--lr", 0.01, "--out", pathlib.Path(directory, "run")],
                self.environment)
            metrics = pathlib.Path(directory, "run", "metrics.jsonl").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in metrics.splitlines()]
        return [line["seconds"] for line in lines if line["type"] == "update"][WARM_UP_UPDATES:]

    def updates_in(self, case, seconds):
        return max(20, round(seconds / statistics.median(self.update_seconds(case, 20))))

    def samples_per_second(self, case, updates):
        return case.batch_size * updates / sum(self.update_seconds(case, updates))


def pytorch_samples_per_second(case, seconds):
    line = run([sys.executable, HERE / "pytorch_ddp.py", "--model", case.model,
                "--ranks", case.ranks, "--minibatch", MINIBATCH, "--substeps", case.substeps,
                "--seconds", seconds],
               {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    return json.loads(line)["samples_per_second"]


def run(command, environment=None):
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    except OSError as error:
        sys.exit(f"cannot run {words[0]}: {error.strerror}")
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def compare(rubato, case, rounds, seconds):
    comparison = Comparison(case, [], [])
    updates = rubato.updates_in(case, seconds)
    for _ in range(rounds):
        comparison.ours.append(rubato.samples_per_second(case, updates))
        comparison.theirs.append(pytorch_samples_per_second(case, seconds))
    return comparison.summary()


def context(options, data):
    import torch
    return {"host": cpu_model(), "cores": os.cpu_count(),
            "load_average": round(os.getloadavg()[0], 2),
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "rubato": run([options.rubato, "--version"]).strip(), "pytorch": torch.__version__,
            "blas": blas(), "data": data, "minibatch": MINIBATCH, "rounds": options.rounds,
            "seconds_a_round": options.seconds}


def blas():
    """The file of the BLAS that PyTorch has loaded."""
    import torch  # noqa: F401
    for line in pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        if "blas" in line:
            return line.split()[-1]
    return "built in"


def missing_package():
    if importlib.util.find_spec("torch") is None:
        return "python3-torch"
    if "/blas/libblas" in blas():
        return "libopenblas0-pthread"
    return None


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def print_context(facts):
    for name, value in facts.items():
        print(f"# {name.replace('_', ' ')}: {value}")
    print("# samples per second over all ranks, medians of the rounds; ratio: Rubato / PyTorch")
    print(f"{'model':<16}{'substeps':>9}{'batch':>7}{'Rubato':>10}{'PyTorch':>10}{'ratio':>7}"
          "  lowest to highest round", flush=True)


def print_row(row):
    print(f"{row['model']:<16}{row['substeps']:>9}{row['batch_size']:>7}{row['rubato']:>10.0f}"
          f"{row['pytorch']:>10.0f}{row['ratio']:>7.2f}"
          f"  {row['lowest_ratio']:.2f} to {row['highest_ratio']:.2f}", flush=True)


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rubato", required=True, help="the program, from a release build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4, help="of each side in each round")
    parser.add_argument("--models", nargs="+",
                        default=["mnist", "mnist-tutorial", "mlp:512,512"])
    parser.add_argument("--substeps", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    return parser.parse_args()


def main():
    options = parse_options()
    if package := missing_package():
        print(f"skipped: on Debian: apt-get install {package}")
        return 77
    data = ("fashion-mnist" if FASHION_MNIST.is_dir()
            else "synthetic:samples=12000,shape=1x28x28,classes=10")
    facts = context(options, data)
    if options.format == "text":
        print_context(facts)
    rows = []
    for model in options.models:
        for substeps in options.substeps:
            case = Case(model, substeps, options.ranks)
            rows.append(compare(Rubato(options.rubato, data), case, options.rounds,
                                options.seconds))
            if options.format == "text":
                print_row(rows[-1])
    if options.format == "json":
        print(json.dumps({"context": facts, "comparisons": rows}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
