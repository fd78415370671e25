"""The office of two PCs, and one run of either side on it."""
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from bench.settings import (BATCH_PER_PC, HIDDEN_LAYERS, HIDDEN_UNITS,
                            IMAGE_SIZE, LEARNING_RATE, LOSS_STEPS, MOMENTUM,
                            SOURCE, WARMUP_STEPS)

OFFICE_SCRIPT = os.path.join(SOURCE, "scripts", "virtual_office")
PEER_SCRIPT = os.path.join(SOURCE, "scripts", "ddp_peer.py")
PCS = ("pc1", "pc2")
INTERFACE = "eth0"
RUN_LIMIT_S = 600
# The same for both sides. Without "none" mpirun binds each PC's only rank to
# the first core, and both PCs' cores are the same ones.
MPI_OPTIONS = ("--bind-to", "none", "-x", "OMP_NUM_THREADS=1")

JOB = """\
[job]
name = "bench_ddp"
[hosts]
list = {hosts}
[model]
name = "mlp"
hidden_units = {units}
hidden_layers = {layers}
[data]
image_size = {image_size}
test_samples = {batch}
[train]
max_steps = {steps}
batch_size = {batch}
learning_rate = {rate}
momentum = {momentum}
threads = 1
device = "cpu"
[gradients]
codec = "{codec}"
[report]
folder = {report}
progress = "never"
"""


class BenchError(Exception):
    """What was asked, what was found, what to do."""

    def __init__(self, asked, found, advice):
        super().__init__(f"{asked}\n  found: {found}\n  to do: {advice}")


def last_lines(text):
    return " | ".join(text.strip().splitlines()[-5:]) or "no output"


def stop(process):
    process.terminate()
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


class Pair:
    """Two PCs while entered. `ours` and `ddp` give one run's numbers."""

    def __init__(self, settings):
        self.settings = settings
        self.name = f"bench-{os.getpid()}"
        self.folder = None
        self.runs = 0

    def __enter__(self):
        self._check_programs()
        self.folder = tempfile.mkdtemp(prefix="egpu-bench-")
        try:
            self._raise_office()
            self._export_start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        # In a session of its own: a second Ctrl-C does not reach it.
        subprocess.run([OFFICE_SCRIPT, "down", self.name], check=False,
                       capture_output=True, timeout=60, start_new_session=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def shape(self, gbit):
        for pc in PCS:
            self._office("shape", self.name, pc, str(gbit))

    def ours(self, codec, steps):
        report = self._path("records")
        job = self._write("job.toml", self._job(codec, steps, report))
        used = self._counted("egpurun", job, *MPI_OPTIONS)
        rows = read_records(report)
        times, losses = slowest(rows)
        return {**numbers(times, losses, used, steps), "phases": phases(rows)}

    def ddp(self, codec, steps, bucket):
        output = self._path("result.json")
        config = self._write("peer.json", json.dumps({
            "model": "mlp", "hidden_units": HIDDEN_UNITS,
            "hidden_layers": HIDDEN_LAYERS, "image_size": IMAGE_SIZE,
            "weights": os.path.join(self.folder, "start", "start.safetensors"),
            "order": os.path.join(self.folder, "start", "order.i32"),
            "batch_size": BATCH_PER_PC * len(PCS), "steps": steps,
            "learning_rate": LEARNING_RATE, "momentum": MOMENTUM,
            "codec": codec, "bucket_cap_mb": bucket, "interface": INTERFACE,
            "output": output}))
        used = self._counted(
            "egpurun", "-np", str(len(PCS)), "-H",
            ",".join(f"{pc}:1" for pc in PCS), *MPI_OPTIONS,
            "-x", f"GLOO_SOCKET_IFNAME={INTERFACE}",
            self.settings.python, PEER_SCRIPT, config)
        with open(output, encoding="utf-8") as file:
            rows = json.load(file)["steps"]
        result = numbers([row["step_ms"] for row in rows],
                         [row["loss"] for row in rows], used, steps)
        measured = rows[WARMUP_STEPS:] or rows
        # The peer's own count of its steps, to check the subtraction with.
        result["counted_step_bytes"] = statistics.mean(
            row["sent_bytes"] for row in measured) / len(PCS)
        return result

    # ---- parts

    def _check_programs(self):
        for path in (os.path.join(self.settings.bin, "egpurun"),
                     os.path.join(self.settings.bin, "egpu-train"),
                     self.settings.python):
            if not os.access(path, os.X_OK):
                raise BenchError("run both sides", f"no program {path}",
                                 "scripts/setup, scripts/build, or --bin")

    def _raise_office(self):
        text = f'name = "{self.name}"\nnetwork_gbit = 1.0\n'
        text += "".join(f'[[pc]]\nname = "{pc}"\n' for pc in PCS)
        self._office("up", self._write("office.toml", text))

    def _export_start(self):
        longest = max(LOSS_STEPS, self.settings.steps or 0)
        job = self._write("start.toml", self._job("none", longest, ""))
        self._run([os.path.join(self.settings.bin, "egpu-train"), job,
                   "--export-start", os.path.join(self.folder, "start")])

    def _job(self, codec, steps, report):
        return JOB.format(
            hosts=json.dumps(list(PCS)), units=HIDDEN_UNITS,
            layers=HIDDEN_LAYERS, image_size=IMAGE_SIZE, steps=steps,
            batch=BATCH_PER_PC * len(PCS), rate=LEARNING_RATE,
            momentum=MOMENTUM, codec=codec, report=json.dumps(report))

    def _path(self, name):
        self.runs += 1
        return os.path.join(self.folder, f"{self.runs}-{name}")

    def _write(self, name, text):
        path = self._path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def _counted(self, *command):
        """What was used while `command` ran on the first PC."""
        sent, cpu = self._sent_bytes(), machine_cpu_ms()
        self._office("exec", self.name, PCS[0], "--", *command)
        return {"cpu_ms": machine_cpu_ms() - cpu,
                "sent_bytes": (self._sent_bytes() - sent) / len(PCS)}

    def _sent_bytes(self):
        """By the interfaces of both PCs."""
        total = 0
        for pc in PCS:
            text = self._office("exec", self.name, pc, "--", "cat",
                                "/proc/net/dev")
            line = next(line for line in text.splitlines()
                        if line.strip().startswith(INTERFACE + ":"))
            total += int(line.partition(":")[2].split()[8])
        return total

    def _office(self, *arguments):
        return self._run([OFFICE_SCRIPT, *arguments])

    def _run(self, command):
        path = self.settings.bin + os.pathsep + os.environ.get("PATH", "")
        process = subprocess.Popen(
            command, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
            env=dict(os.environ, PATH=path))
        try:
            output, errors = process.communicate(timeout=RUN_LIMIT_S)
        except subprocess.TimeoutExpired:
            stop(process)
            raise BenchError("run " + " ".join(command),
                             f"not over after {RUN_LIMIT_S} s",
                             "fewer --steps, or find what hangs") from None
        except BaseException:
            stop(process)
            raise
        if process.returncode != 0:
            raise BenchError("run " + " ".join(command),
                             f"exit status {process.returncode}: "
                             + last_lines(errors or output),
                             "mend that, then try again")
        return output


def machine_cpu_ms():
    """CPU time of all processes on this machine, in user and kernel mode."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq = map(
            int, file.readline().split()[1:8])
    return (user + nice + system + irq + softirq) * 1000 / os.sysconf(
        "SC_CLK_TCK")


def read_records(folder):
    """The step records of all ranks."""
    rows = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            rows += [row for row in map(json.loads, file)
                     if row["type"] == "step"]
    return rows


def slowest(rows):
    """Slowest rank's milliseconds and the loss, of each step."""
    times, losses = {}, {}
    for row in rows:
        step = row["step"]
        times[step] = max(times.get(step, 0.0), row["step_ms"])
        losses[step] = row["loss"]
    return ([times[step] for step in sorted(times)],
            [losses[step] for step in sorted(losses)])


def phases(rows):
    """Median milliseconds of each part of a step, over steps and ranks."""
    measured = [row for row in rows if row["step"] >= WARMUP_STEPS] or rows
    return {name: statistics.median(row[name] for row in measured)
            for name in measured[0] if name.endswith("_ms")}


def numbers(times, losses, used, steps):
    if len(times) != steps:
        raise BenchError(f"train {steps} steps", f"{len(times)} steps",
                         "look at the records with egpu-report")
    return {"steps": steps, "finished_at": time.time(),
            "step_ms": statistics.median(times[WARMUP_STEPS:] or times),
            **used,  # with start and end
            "step_times_ms": times, "losses": losses}
