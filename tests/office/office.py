"""A virtual office for a test:

    with Office(pcs={"pc1": {}, "pc2": {"network_gbit": 2.5}}) as office:
        office.exec("pc1", "mpirun", "-H", "pc1,pc2", "hostname", check=True)

Other folders' tests: sys.path.insert(0, os.environ["EGPU_SOURCE"] + "/tests/office").
"""
import functools
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time

SOURCE = os.environ.get("EGPU_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
)
VIRTUAL_OFFICE = os.path.join(SOURCE, "scripts", "virtual_office")
NAMESPACES = ("net", "pid", "mnt")
_numbers = itertools.count(1)


def virtual_office(*arguments, **options):
    """Runs scripts/virtual_office; a CompletedProcess with text output."""
    settings = {"capture_output": True, "text": True, "timeout": 120, **options}
    return subprocess.run([VIRTUAL_OFFICE, *map(str, arguments)], **settings)


class Office:
    """PCs by name, each with the keys of [[pc]]; `defaults` are keys of the whole file."""

    def __init__(self, pcs=None, name=None, **defaults):
        self.name = name or f"test-{os.getpid()}-{next(_numbers)}"
        self.folder = tempfile.mkdtemp(prefix="egpu-office-test-")
        self.file = os.path.join(self.folder, "office.toml")
        lines = [f'name = "{self.name}"']
        lines += [f"{key} = {json.dumps(value)}" for key, value in defaults.items()]
        for pc, settings in (pcs or {"pc1": {}, "pc2": {}}).items():
            lines += ["[[pc]]", f'name = "{pc}"']
            lines += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def __enter__(self):
        try:
            self.up()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.down()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, command, *arguments, **options):
        return virtual_office(command, self.file, *arguments, **options)

    def _must(self, command, *arguments):
        result = self.run(command, *arguments)
        if result.returncode != 0:
            raise RuntimeError(f"virtual_office {command}: {result.stderr}")
        return result

    def up(self):
        return self._must("up").stdout

    def down(self):
        return self._must("down").stdout

    def shape(self, pc, gbit):
        self._must("shape", pc, gbit)

    def cut(self, pc, *gpu):
        self._must("cut", pc, *gpu)

    def plug(self, pc, *gpu):
        self._must("plug", pc, *gpu)

    def status(self):
        reports = json.loads(self.run("status", "--json").stdout)
        return reports[0] if reports else None

    def exec(self, pc, *command, **options):
        """Runs a command in a PC; a CompletedProcess with text output."""
        return self.run("exec", pc, "--", *command, **options)

    def popen(self, pc, *command, **options):
        words = [VIRTUAL_OFFICE, "exec", self.file, pc, "--", *command]
        return subprocess.Popen(words, text=True, **options)

    def pids(self, pc):
        """{pid: command line} in the PC's own numbers: what it runs besides its
        first process, sshd's listener and the ps that asks."""
        listing = self.exec(pc, "ps", "-e", "-o", "pid=,args=", check=True).stdout
        rows = [line.strip().partition(" ") for line in listing.splitlines()]
        return {
            int(pid): command.strip()
            for pid, _, command in rows
            if pid != "1"
            and "[listener]" not in command
            and not command.strip().startswith("ps -e")
        }

    def namespaces(self):
        """Ids of the namespaces that the office's living first processes pin."""
        path = os.path.join(self.status()["state_folder"], "office.json")
        with open(path, encoding="utf-8") as file:
            holders = json.load(file)["holders"].values()
        found = {namespace(holder["pid"], kind) for holder in holders for kind in NAMESPACES}
        return found - {namespace("self", kind) for kind in NAMESPACES} - {None}


def namespace(pid, kind):
    try:
        return os.readlink(f"/proc/{pid}/ns/{kind}")
    except OSError:
        return None


def start_time(pid):
    """Clock ticks since boot; None for a process that is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def processes_in(namespaces):
    """Set of (outer pid, start time) of all processes in any of these namespaces;
    None: in whichever. The kernel uses a dead namespace's id again at once, so
    ask before `down`, and look for the same processes after it."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        inside = namespaces is None or any(
            namespace(pid, kind) in namespaces for kind in NAMESPACES
        )
        if inside and (start := start_time(pid)) is not None:
            found.add((int(pid), start))
    return found


def wait_until(condition, patience=20):
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@functools.cache
def skip_reason():
    """Why no office can be raised here, found by raising one; None if it can."""
    office = Office({"pc1": {}})
    try:
        result = office.run("up")
        return None if result.returncode != 3 else " ".join(result.stderr.split())
    finally:
        office.close()
