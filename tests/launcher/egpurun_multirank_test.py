"""What egpurun does beyond mpirun: plan, environment of the ranks, job files,
errors before the start."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BIN = pathlib.Path(os.environ["EGPU_BIN"])
MACHINES = pathlib.Path(os.environ["EGPU_SOURCE"]) / "tests/data/machines"
LIMIT_S = 120
REMOTE = (
    "--mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include lo "
    "--mca btl_tcp_if_include lo").split()
AGENT = """#!/bin/sh
# A remote shell without a remote: clears the environment; a session folder per host,
# for with a shared one mpirun 4.1.4 hangs now and then.
session=$(dirname "$0")/session-$1
mkdir -p "$session"
shift
exec env -i PATH="$PATH" HOME="$HOME" OMPI_MCA_orte_tmpdir_base="$session" $REMOTE_MACHINE /bin/sh -c "$*"
"""
TRAIN = """#!/bin/sh
echo "train $* rank $RANK/$WORLD_SIZE on $EGPU_HOST, option ${EGPU_OPTION-none}"
"""


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)


def is_running(pid):
    """False for a process that has ended, reaped or not."""
    try:
        status = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rsplit(")", 1)[1].split()[0] not in "ZX"


class EgpurunCase(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="egpurun-test-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.agent = self.folder / "agent"
        write_program(self.agent, AGENT)
        # Programs find each other by their folder: a folder with egpurun, a
        # stand-in for egpu-train, and nothing of the build's.
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for name in ("egpurun", "egpu-rank", "egpu-topo"):
            shutil.copy(BIN / name, self.bin)
        write_program(self.bin / "egpu-train", TRAIN)

    def run_egpurun(self, *words, program="egpurun", **variables):
        environment = {**os.environ, **variables}
        return subprocess.run(
            [self.bin / program, *map(str, words)], cwd=self.folder,
            env=environment, capture_output=True, text=True, timeout=LIMIT_S)

    def on_fake_hosts(self, hosts, *words, **variables):
        return self.run_egpurun(
            "--mca", "plm_rsh_agent", self.agent, *REMOTE, "-H", hosts, *words,
            **variables)

    def assert_error(self, result, status, *parts):
        """A three-part error on stderr, nothing on stdout."""
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        for part in ("egpurun: ", "\n  found: ", "\n  to do: ", *parts):
            self.assertIn(part, result.stderr)


class Information(EgpurunCase):
    def test_version_names_both(self):
        result = self.run_egpurun("--version")
        self.assertEqual(result.returncode, 0)
        first, second = result.stdout.splitlines()
        self.assertRegex(first, r"^egpurun \d+\.\d+\.\d+$")
        self.assertIn("(Open MPI)", second)

    def test_under_mpiruns_name_it_is_mpirun(self):
        real = subprocess.run(["mpirun", "--version"], capture_output=True,
                              text=True, timeout=LIMIT_S)
        for name in ("mpirun", "mpiexec", "orterun"):
            (self.bin / name).symlink_to("egpurun")
            path = f"{self.bin}:{os.environ['PATH']}"
            result = self.run_egpurun("--version", program=name, PATH=path)
            self.assertEqual(result.stdout, real.stdout)
            result = self.run_egpurun(
                "-np", "1", "sh", "-c", "echo $RANK", program=name, PATH=path)
            self.assertEqual(result.stdout, "0\n", result.stderr)

    def test_help_lists_own_options_first(self):
        result = self.run_egpurun("--help")
        self.assertEqual(result.returncode, 0)
        self.assertLess(result.stdout.index("--egpu-dry-run"),
                        result.stdout.index("--map-by"))

    def test_dry_run_prints_a_command_that_works(self):
        marker = self.folder / "started"
        script = f"touch {marker}; echo \"it's $1\""
        result = self.run_egpurun(
            "--egpu-dry-run", "-np", "2", "sh", "-c", script, "sh", "a  'b'")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertFalse(marker.exists())
        command = result.stdout.split("command:\n")[1].strip()
        output = subprocess.run(command, shell=True, cwd=self.folder,
                                capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(output.stdout, "it's a  'b'\n" * 2, output.stderr)
        self.assertTrue(marker.exists())

    def test_explain_leaves_standard_output_alone(self):
        result = self.run_egpurun("--egpu-explain", "-np", "1", "echo", "x")
        self.assertEqual(result.stdout, "x\n")
        self.assertIn("no usable GPU", result.stderr)


class Environment(EgpurunCase):
    def ranks(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        return sorted(result.stdout.splitlines())

    def test_torch_names(self):
        result = self.run_egpurun(
            "-np", "2", "sh", "-c", "echo $RANK/$WORLD_SIZE "
            "$LOCAL_RANK/$LOCAL_WORLD_SIZE $MASTER_ADDR ${MASTER_PORT:+port} "
            "$EGPU_HOST_INDEX $EGPU_TERMINAL")
        self.assertEqual(self.ranks(result), [
            "0/2 0/2 127.0.0.1 port 0 0", "1/2 1/2 127.0.0.1 port 0 0"])

    def test_what_the_user_sets_wins(self):
        result = self.run_egpurun(
            "-x", "MASTER_PORT=1234", "-np", "1", "sh", "-c",
            "echo $MASTER_ADDR $MASTER_PORT $CUDA_VISIBLE_DEVICES",
            MASTER_ADDR="pc9", CUDA_VISIBLE_DEVICES="7",
            EGPU_MACHINE=str(MACHINES / "one_link_two_gpus"))
        self.assertEqual(self.ranks(result), ["pc9 1234 7"])

    def test_hosts_are_told_apart(self):
        result = self.on_fake_hosts(
            "pc1:2,pc2:1", "sh", "-c", "echo $RANK $EGPU_HOST $EGPU_HOST_INDEX")
        self.assertEqual(self.ranks(result), ["0 pc1 0", "1 pc1 0", "2 pc2 1"])

    def test_local_host_among_others(self):
        result = self.on_fake_hosts(
            "pc2:1,localhost:1,pc3:1", "sh", "-c",
            "echo $RANK $EGPU_HOST $EGPU_HOST_INDEX")
        self.assertEqual(
            self.ranks(result), ["0 localhost 1", "1 pc2 0", "2 pc3 2"])

    def test_each_rank_gets_its_gpu(self):
        result = self.run_egpurun(
            "-np", "2", "sh", "-c",
            "echo $RANK $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER",
            EGPU_MACHINE=str(MACHINES / "one_link_two_gpus"))
        self.assertEqual(self.ranks(result), [
            "0 GPU-22222222-0000-0000-0000-000000000001 PCI_BUS_ID",
            "1 GPU-22222222-0000-0000-0000-000000000002 PCI_BUS_ID"])

    def test_remote_gpus_are_asked_for(self):
        write_program(self.agent, AGENT.replace(
            "$REMOTE_MACHINE", f"EGPU_MACHINE={MACHINES / 'tb4_rtx5090'}"))
        result = self.on_fake_hosts(
            "pc1:1,pc2:1", "--egpu-discover", "sh", "-c",
            "echo $EGPU_HOST $EGPU_GPU_UUID")
        gpu = "GPU-11111111-0000-0000-0000-000000000001"
        self.assertEqual(self.ranks(result), [f"pc1 {gpu}", f"pc2 {gpu}"])

    def test_egpu_rank_alone_names_host_and_rank(self):
        for program, status in (("no-such", 134), ("./no-such", 132)):
            result = subprocess.run(
                [self.bin / "egpu-rank", "--", program], capture_output=True,
                text=True, env={**os.environ, "OMPI_COMM_WORLD_RANK": "3"},
                timeout=LIMIT_S)
            self.assertEqual(result.returncode, status)
            self.assertIn("rank 3", result.stderr)
            self.assertIn("host ", result.stderr)
            self.assertIn("  found: ", result.stderr)


class Errors(EgpurunCase):
    def test_mpirun_missing(self):
        self.assert_error(
            self.run_egpurun("-np", "1", "true", PATH=str(self.bin)), 3,
            "no mpirun in PATH", "openmpi-bin")
        self.assert_error(
            self.run_egpurun("-np", "1", "true", EGPU_MPIRUN="/no/mpirun"), 3,
            "EGPU_MPIRUN=/no/mpirun")

    def test_mpirun_of_another_vendor(self):
        other = self.folder / "other"
        other.mkdir()
        write_program(other / "mpirun",
                      "#!/bin/sh\necho HYDRA build details:\n")
        self.assert_error(
            self.run_egpurun("-np", "1", "true", PATH=f"{other}:/usr/bin"), 3,
            "HYDRA build details", "EGPU_MPIRUN")

    def test_a_full_disk_behind_standard_output(self):
        for words in (["--help"], ["--version"], ["--egpu-dry-run", "-np", "1", "true"]):
            with self.subTest(words=words), open("/dev/full", "w") as full:
                result = subprocess.run([self.bin / "egpurun", *words], stdout=full,
                                        stderr=subprocess.PIPE, text=True, timeout=LIMIT_S)
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertIn("\n  to do: ", result.stderr)

    def test_a_removed_working_folder(self):
        command = f'mkdir gone && cd gone && rmdir ../gone && exec "{self.bin}/egpurun" -np 1 true'
        result = subprocess.run(["sh", "-c", command], cwd=self.folder, capture_output=True,
                                text=True, timeout=LIMIT_S)
        self.assert_error(result, 3, "current folder")

    def test_options_of_others(self):
        self.assert_error(self.run_egpurun("-ppn", "2", "true"), 1, "-N ")
        self.assert_error(self.run_egpurun("--egpu-explian", "true"), 1,
                          "--egpu-explain")

    def test_broken_recording(self):
        self.assert_error(
            self.run_egpurun("-np", "1", "true", EGPU_MACHINE="/no/machine"), 2,
            "/no/machine")

    def test_a_killed_rank_ends_the_job(self):
        script = 'echo $$ > "pid.$RANK"; exec sleep 600'
        job = subprocess.Popen(
            [self.bin / "egpurun", "-np", "2", "sh", "-c", script],
            cwd=self.folder, stderr=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        files = [self.folder / f"pid.{rank}" for rank in range(2)]
        limit = time.monotonic() + LIMIT_S
        while not all(f.exists() and f.read_text().strip() for f in files):
            self.assertLess(time.monotonic(), limit, "the ranks did not start")
            time.sleep(0.05)
        pids = [int(file.read_text()) for file in files]
        os.kill(pids[1], signal.SIGKILL)
        # The requirement: ended within 10 s, no orphan.
        self.assertEqual(job.wait(timeout=10), 137)
        limit = time.monotonic() + 10
        while any(map(is_running, pids)):
            self.assertLess(time.monotonic(), limit, f"orphans: {pids}")
            time.sleep(0.05)


class JobFile(EgpurunCase):
    def write_job(self, text):
        (self.folder / "job.toml").write_text(text)

    def test_runs_egpu_train_with_the_jobs_ranks(self):
        self.write_job("[hosts]\nranks = 3\n")
        result = self.run_egpurun(
            "job.toml", "--tag-output", "--", "--flag", "a b", EGPU_OPTION="on")
        self.assertEqual(sorted(result.stdout.splitlines()), [
            f"[1,{rank}]<stdout>:train job.toml --flag a b rank {rank}/3 "
            f"on {os.uname().nodename}, option on" for rank in range(3)],
            result.stderr)

    def test_hosts_of_the_job(self):
        self.write_job('[hosts]\nlist = ["pc1:2", "pc2"]\nnetwork = "lo"\n')
        result = self.run_egpurun(
            "--mca", "plm_rsh_agent", self.agent, "--mca",
            "plm_rsh_no_tree_spawn", "1", "job.toml", EGPU_OPTION="a b")
        self.assertEqual(sorted(result.stdout.splitlines()), [
            "train job.toml rank 0/3 on pc1, option a b",
            "train job.toml rank 1/3 on pc1, option a b",
            "train job.toml rank 2/3 on pc2, option a b"], result.stderr)

    def test_the_command_line_wins_over_the_job_file(self):
        self.write_job('[hosts]\nlist = ["pc1", "pc2"]\nnetwork = "eth7"\n')
        result = self.run_egpurun(
            "--egpu-dry-run", "job.toml", "-H", "localhost:4", "-np", "2",
            "--bind-to", "core", "--mca", "btl_tcp_if_include", "lo")
        command = result.stdout.split("command:\n")[1]
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("pc1", command)
        self.assertIn("-H localhost:4 -np 2 --bind-to core", command)
        self.assertIn("--mca oob_tcp_if_include eth7", command)
        self.assertEqual(command.count("btl_tcp_if_include"), 1)
        self.assertNotIn("--bind-to none", command)

    def test_unresolvable_hosts_are_all_named(self):
        self.write_job('[hosts]\nlist = ["no-host-1", "localhost", "no-host-2"]\n')
        self.assert_error(self.run_egpurun("job.toml"), 3,
                          "no-host-1, no-host-2", "host no-host-1")

    def test_bad_job_files(self):
        self.assert_error(self.run_egpurun("missing.toml"), 2, "missing.toml")
        self.write_job("[hosts]\nrank = 3\n")
        self.assert_error(self.run_egpurun("job.toml"), 2, "job.toml:2", "ranks")
        self.write_job("[hosts\n")
        self.assert_error(self.run_egpurun("job.toml"), 2, "job.toml:1")

    def test_words_that_do_not_belong(self):
        self.write_job("")
        self.assert_error(self.run_egpurun("job.toml", "extra"), 2, "'extra'")
        self.assert_error(self.run_egpurun("job.toml", ":", "true"), 2, "':'")

    def test_egpu_train_missing(self):
        self.write_job("")
        (self.bin / "egpu-train").unlink()
        self.assert_error(self.run_egpurun("job.toml"), 3, "egpu-train")


if __name__ == "__main__":
    unittest.main()
