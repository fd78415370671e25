"""egpurun must behave as the installed mpirun: the same lines on standard
output (sorted, since ranks interleave) and the same exit status."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["EGPU_BIN"])
LIMIT_S = 120

SHOW = """#!/bin/sh
echo "rank $OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE in $(pwd)"
echo "command $OMPI_COMMAND argv ${OMPI_ARGV-none} A=${A-none} B=${B-none}"
for word in "$0" "$@"; do printf 'word <%s>\\n' "$word"; done
"""
AGENT = """#!/bin/sh
# A remote shell without a remote: clears the environment. Each host's daemon gets
# a session folder of its own: with a shared one, mpirun 4.1.4 itself hangs in one
# of 25 runs when a rank fails.
session=$(dirname "$0")/session-$1
mkdir -p "$session"
shift
exec env -i PATH="$PATH" HOME="$HOME" OMPI_MCA_orte_tmpdir_base="$session" /bin/sh -c "$*"
"""
MPI_SOURCE = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int rank, world, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d of %d, sum %d, %s\\n", rank, world, sum, argv[argc - 1]);
  MPI_Finalize();
  return 0;
}
"""
REMOTE = (
    "--mca plm_rsh_agent AGENT --mca plm_rsh_no_tree_spawn 1 "
    "--mca oob_tcp_if_include lo --mca btl_tcp_if_include lo").split()

# One command line per row: name, words, and optionally stdin.
CASES = [
    ("ranks", ["-np", "2", "./show", "a", "b"]),
    ("program in PATH", ["-n", "1", "echo", "-n", "x"]),
    ("absolute path", ["--np", "1", "DIR/show"]),
    ("one dash", ["-np", "2", "-bind-to", "none", "-map-by", "slot", "./show"]),
    ("last count wins", ["-np", "2", "-np", "3", "./show"]),
    ("mca", ["--mca", "btl", "self,vader", "-np", "2", "./show"]),
    ("mca twice", ["--mca", "a", "b", "--mca", "a", "c", "-np", "1", "./show"]),
    ("gmca", ["--gmca", "a", "b", "-np", "1", "./show"]),
    ("variables", ["-x", "A=b c=d", "-x", "B", "-np", "2", "./show"]),
    ("variable missing", ["-x", "NOT_SET_AT_ALL", "-np", "1", "./show"]),
    ("ppr", ["--map-by", "ppr:1:node", "./show"]),
    ("N", ["-N", "2", "./show"]),
    ("npernode", ["-npernode", "1", "./show"]),
    ("slots of a host", ["-H", "localhost:3", "./show"]),
    ("oversubscribe", ["--oversubscribe", "-np", "5", "./show"]),
    ("rank by", ["-np", "2", "--rank-by", "node", "./show"]),
    ("hostfile", ["--hostfile", "hosts", "-np", "3", "./show"]),
    ("bad hostfile", ["--hostfile", "badhosts", "-np", "1", "./show"]),
    ("missing hostfile", ["--hostfile", "nohosts", "-np", "1", "./show"]),
    ("two contexts", ["-np", "1", "-x", "A=1", "./show", "x", ":",
                      "-np", "2", "-x", "B=2", "./show", "y"]),
    ("three contexts", ["-np", "1", "./show", ":", "-np", "1", "echo", "e",
                        ":", "-np", "1", "true"]),
    ("trailing colon", ["-np", "1", "./show", ":"]),
    ("leading colon", [":", "-np", "1", "./show"]),
    ("two contexts, no count", ["./show", ":", "./show"]),
    ("app file", ["--app", "appfile"]),
    ("end mark", ["-np", "1", "--", "./show", "-np", "3"]),
    ("program ./-np", ["-np", "1", "./-np", "-np", "--host"]),
    ("program ./--host", ["-np", "1", "--", "./--host", "pc1"]),
    ("program named like an option", ["-np", "1", "--path", "odd", "--",
                                      "--mca", "x"]),
    ("path option", ["--path", "odd", "-np", "1", "inodd", "a"]),
    ("blanks and quotes", ["-np", "1", "./show", "a b", "", "'", '"', "it's"]),
    ("shell characters", ["-np", "1", "./show", "$(id)", "`id`", "*", "\\", ";",
                          "&", "a=b", "{}", "--"]),
    ("newline and tab", ["-np", "1", "./show", "a\nb", "\t"]),
    ("working folder", ["--wdir", "sub", "-np", "1", "./insub"]),
    ("wd", ["-wd", "DIR/sub", "-np", "1", "./insub"]),
    ("missing working folder", ["--wdir", "/no/such", "-np", "1", "./show"]),
    ("exit 7", ["-np", "2", "sh", "-c", "exit 7"]),
    ("one rank fails", ["-np", "2", "sh", "-c",
                        '[ "$OMPI_COMM_WORLD_RANK" = 1 ] && exit 3; sleep 60']),
    ("SIGKILL", ["-np", "2", "sh", "-c", "kill -KILL $$"]),
    ("SIGSEGV", ["-np", "1", "sh", "-c", "kill -SEGV $$"]),
    ("SIGTERM", ["-np", "1", "sh", "-c", "kill -TERM $$"]),
    ("program not in PATH", ["-np", "1", "no-such-program"]),
    ("path of no program", ["-np", "2", "./no-such-program"]),
    ("no execute permission", ["-np", "1", "./noexec"]),
    ("no program format", ["-np", "1", "./garbage"]),
    ("folder", ["-np", "1", "./sub"]),
    ("no program", ["-np", "2"]),
    ("nothing", []),
    ("no ranks", ["-np", "0", "./show"]),
    ("bad count", ["-np", "two", "./show"]),
    ("count glued", ["-np2", "./show"]),
    ("bad option", ["--no-such-option", "./show"]),
    ("missing value", ["--mca", "a"]),
    ("bad policy", ["--map-by", "nonsense", "-np", "1", "./show"]),
    ("timeout", ["--timeout", "1", "-np", "1", "sleep", "60"]),
    ("stdin to rank 0", ["-np", "2", "cat"], "line 1\nline 2\n"),
    ("stdin to rank 1", ["-stdin", "1", "-np", "2", "./tagcat"], "text\n"),
    ("stdin to none", ["-stdin", "none", "-np", "2", "cat"], "text\n"),
    ("tags", ["--tag-output", "-np", "2", "./show", "a"]),
    ("merged", ["-merge-stderr-to-stdout", "-np", "1", "sh", "-c",
                "echo out; echo err >&2"]),
    ("quiet cluster", ["-qv", "-np", "1", "./show"]),
    ("preload", ["-s", "-np", "1", "./tagcat"], "text\n"),
    ("index argv", ["-index-argv-by-rank", "-np", "2", "./show"]),
    ("two hosts", [*REMOTE, "-np", "4", "-H", "pc1:2,pc2:2", "DIR/show", "a"]),
    ("two hosts, one each", [*REMOTE, "-H", "pc1:2,pc2:2", "--map-by",
                             "ppr:1:node", "-x", "A=b c", "DIR/show"]),
    ("contexts on hosts", [*REMOTE, "-np", "1", "-H", "pc1", "DIR/show", ":",
                           "-np", "1", "-H", "pc2", "DIR/show", "b"]),
    ("remote failure", [*REMOTE, "-np", "2", "-H", "pc1,pc2", "sh", "-c",
                        "exit 9"]),
    ("unreachable host", ["--mca", "plm_rsh_agent", "/bin/false", "-np", "1",
                          "-H", "no-such-host", "./show"]),
    ("horovod's line", ["--allow-run-as-root", "--tag-output", "-np", "2", "-H",
                        "localhost:2", "-bind-to", "none", "-map-by", "slot",
                        "-mca", "pml", "ob1", "-mca", "btl", "^openib", "-x",
                        "PATH", "./show"]),
    ("accelerate's line", ["--hostfile", "hosts", "--npernode", "2", "-n", "2",
                           "--bind-to", "none", "-x", "A=1", "./show"]),
]


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)


def fill(folder):
    """Everything the cases use, in one fresh folder."""
    (folder / "sub").mkdir()
    (folder / "odd").mkdir()
    for name in ("show", "-np", "--host", "sub/insub", "odd/--mca",
                 "odd/inodd"):
        write_program(folder / name, SHOW)
    write_program(folder / "agent", AGENT)
    write_program(folder / "tagcat",
                  '#!/bin/sh\nsed "s/^/$OMPI_COMM_WORLD_RANK: /"\n')
    write_program(folder / "garbage", "no format at all\n")
    (folder / "noexec").write_text(SHOW)
    (folder / "hosts").write_text("localhost slots=4 # egpu: gpus=2\n")
    (folder / "badhosts").write_text("localhost gpus=1\n")
    (folder / "appfile").write_text("# app\n-np 1 ./show a\n-np 1 ./show b\n")


class Parity(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="egpurun-parity-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        fill(self.folder)
        self.mpirun = os.environ.get("EGPU_MPIRUN") or shutil.which("mpirun")
        self.assertIsNotNone(self.mpirun, "mpirun is not installed")

    def run_words(self, program, words, stdin=""):
        agent = str(self.folder / "agent")
        words = [agent if word == "AGENT" else
                 word.replace("DIR/", f"{self.folder}/") for word in words]
        environment = dict(os.environ, B="from the environment")
        environment.pop("A", None)
        result = subprocess.run(
            [str(program), *words], cwd=self.folder, env=environment,
            input=stdin, capture_output=True, text=True, timeout=LIMIT_S)
        return result, sorted(result.stdout.splitlines())

    def compare(self, words, stdin=""):
        expected, expected_lines = self.run_words(self.mpirun, words, stdin)
        actual, lines = self.run_words(BIN / "egpurun", words, stdin)
        shown = (f"\nmpirun's stderr:\n{expected.stderr}"
                 f"\negpurun's stderr:\n{actual.stderr}")
        self.assertEqual(lines, expected_lines, shown)
        self.assertEqual(actual.returncode, expected.returncode, shown)
        return actual

    def test_command_lines(self):
        self.assertGreaterEqual(len(CASES), 30)
        for name, words, *stdin in CASES:
            with self.subTest(name):
                self.compare(words, *stdin)

    def test_the_program_is_really_started_by_egpu_rank(self):
        words = ["-np", "1", "sh", "-c", 'echo "<$RANK $EGPU_HOST_INDEX>"']
        self.assertEqual(self.run_words(BIN / "egpurun", words)[1], ["<0 0>"])
        self.assertEqual(self.run_words(self.mpirun, words)[1], ["< >"])

    def test_output_files(self):
        trees = []
        for program in (self.mpirun, BIN / "egpurun"):
            out = self.folder / f"out-{pathlib.Path(program).name}"
            result, _ = self.run_words(
                program, ["--output-filename", str(out), "-np", "2", "./show"])
            self.assertEqual(result.returncode, 0, result.stderr)
            trees.append({
                str(file.relative_to(out)): file.read_text()
                for file in out.rglob("*") if file.is_file()})
        self.assertEqual(trees[0], trees[1])
        self.assertIn("1/rank.1/stdout", trees[1])

    def test_mpi_program(self):
        compiler = shutil.which("mpicc")
        if compiler is None:
            self.skipTest("mpicc is not in PATH")
        source = self.folder / "sum.c"
        source.write_text(MPI_SOURCE)
        subprocess.run([compiler, "-o", self.folder / "sum", source],
                       check=True, timeout=LIMIT_S)
        for words in (["-np", "3", "./sum", "a b"],
                      # Faked hosts share one memory: tcp only.
                      [*REMOTE, "--mca", "btl", "tcp,self", "-np", "4", "-H",
                       "pc1:2,pc2:2", "DIR/sum"],
                      ["-np", "1", "./sum", "x", ":", "-np", "2", "./sum", "y"]):
            with self.subTest(words=words):
                result = self.compare(words)
                self.assertIn("sum", result.stdout)


if __name__ == "__main__":
    unittest.main()
