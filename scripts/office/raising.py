"""`up` and `down`: raises an office step by step, removes all of it for certain."""
import contextlib
import os
import signal
import socket
import subprocess
import sys

from office import network, pc_files, processes, state as states
from office.errors import ENVIRONMENT, RUN, OfficeError

SCRIPTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(SCRIPTS, "virtual_office")
INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 30.0  # seconds for one step of one PC


class Holder:
    """The far end of a holder process while `up` runs."""

    def __init__(self, folder, kind, name, home):
        self.name = name
        self.socket, theirs = socket.socketpair()
        self.socket.settimeout(PATIENCE)
        self.lines = self.socket.makefile("r", encoding="utf-8")
        self.heard = {}
        arguments = ["--hold", folder, kind, name, home, str(theirs.fileno())]
        # Not the caller's stderr: whoever reads that to its end would wait for ever.
        log = open(os.path.join(folder, "first_processes.log"), "ab")
        with theirs, log:
            self.first = subprocess.Popen(
                [sys.executable, PROGRAM, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                cwd="/",
            )

    def hear(self, expected):
        """Waits for a line that starts with this word; returns what follows it."""
        while expected not in self.heard:
            try:
                word, _, rest = self.lines.readline().strip().partition(" ")
            except TimeoutError:
                word, rest = "error", f"no answer for {PATIENCE:g} s"
            if word in ("", "error"):
                raise OfficeError(
                    f"start {self.name}",
                    rest or "its first process ended",
                    "the kernel must allow new namespaces and mounts; see scripts/README.md",
                    ENVIRONMENT,
                )
            self.heard[word] = rest
        return self.heard[expected]

    def say(self, line):
        self.socket.sendall(line.encode() + b"\n")

    def record(self):
        pid = int(self.hear("pid"))
        self.first.wait()
        return {"pid": pid, "start": processes.start_time(pid)}


def start_holders(state, folder):
    home = os.environ.get("EGPU_OFFICE_HOME", "")
    holders = {"switch": Holder(folder, "switch", "switch", "")}
    for name in state["pcs"]:
        holders[name] = Holder(folder, "pc", name, home)
    for name, holder in holders.items():
        state["holders"][name] = holder.record()
        states.save(state)
    for holder in holders.values():
        holder.hear("made")
    return holders


def connect_all(state):
    switch = state["holders"]["switch"]["pid"]
    network.make_switch(switch, state["subnet"])
    for name, pc in state["pcs"].items():
        pid = state["holders"][name]["pid"]
        network.connect(switch, pid, pc["number"], state["subnet"])
        network.shape(switch, pid, pc["number"], pc["network_gbit"])


def new_state(office):
    pcs = {}
    for number, pc in enumerate(office.as_dict()["pcs"], start=1):
        pcs[pc["name"]] = {**pc, "number": number, "plugged": True, "cut_gpus": []}
    return {
        "name": office.name,
        "boot": states.boot_id(),
        "subnet": states.free_subnet(),
        "described": office.as_dict(),
        "pcs": pcs,
        "holders": {},
        "up": False,
    }


def raise_office(office):
    state = new_state(office)
    folder = states.folder_of(office.name)
    os.mkdir(folder, 0o700)
    states.save(state)
    pc_files.make_office_files(folder, state["subnet"], list(state["pcs"]))
    for pc in state["pcs"].values():
        pc_files.make_pc_files(folder, pc, f"{state['subnet']}.{pc['number']}")
    holders = start_holders(state, folder)
    connect_all(state)
    for holder in holders.values():
        holder.say("connected")
    for holder in holders.values():
        holder.hear("ready")
    # From here on the office outlives this process: too late for an interruption.
    for number in INTERRUPTIONS:
        signal.signal(number, signal.SIG_IGN)
    state["up"] = True
    states.save(state)
    for holder in holders.values():
        holder.say("stay")
    return state


def is_whole(state):
    return state["up"] and all(
        processes.is_alive(state["holders"].get(name)) for name in ["switch", *state["pcs"]]
    )


def up(office):
    """Returns (state, whether it was up already)."""
    with states.locked():
        state = states.load(office.name)
        if state and is_whole(state):
            if state["described"] != office.as_dict():
                raise OfficeError(
                    f"raise the office {office.name}",
                    "an office of this name is up, and its description differs",
                    f"take it down first: scripts/virtual_office down {office.name}",
                    RUN,
                )
            return state, True
        with uninterrupted():
            remove(office.name)
        try:
            return raise_office(office), False
        except BaseException:
            with uninterrupted():
                remove(office.name)
            raise


@contextlib.contextmanager
def uninterrupted():
    """Interruptions are delivered when it ends."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTIONS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def remove(name):
    """Ends everything of an office, whatever state it is in; call under the lock."""
    folder = states.folder_of(name)
    state = states.load(name)
    holders = state["holders"] if state else {}
    left = processes.end_all(folder, holders)
    if left:
        raise OfficeError(
            f"remove the office {name}",
            "processes that do not die: " + ", ".join(str(pid) for pid, _ in left),
            "they wait in the kernel; try again later",
        )
    states.remove(name)
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = [line.split()[4] for line in file if folder + "/" in line]
    for mount in mounts:
        raise OfficeError(f"remove the office {name}", f"{mount} is mounted", "unmount it")


def down(name):
    """True if there was an office of this name, or a remainder of one."""
    with states.locked():
        there = os.path.exists(states.folder_of(name)) or bool(
            processes.members(states.folder_of(name), set())
        )
        with uninterrupted():
            remove(name)
        return there
