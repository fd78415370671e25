"""The first process of a PC (or of the switch): pins its namespaces, runs its sshd.

Speaks lines over a socket with `up`: says "pid N", "made" and "ready" (or
"error TEXT"), hears "connected" and "stay". If `up` dies before "stay", it ends,
and with it everything inside.
"""
import contextlib
import os
import socket
import subprocess
import sys
import time

from office import kernel
from office.network import tool
from office.pc_files import SESSION_FOLDER, bindings, pc_folder

PC_NAMESPACES = ["mnt", "uts", "ipc", "net", "pid"]
SWITCH_NAMESPACES = ["net", "pid"]


def mount_own_sys():
    """/sys shows the network devices of the namespace it was mounted in. A kernel
    that refuses leaves the machine's, which is only less true to life."""
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
        groups = os.open("/sys/fs/cgroup", os.O_PATH)
        stack.callback(os.close, groups)
        kernel.mount("sysfs", "/sys", "sysfs", flags)
        bind = kernel.MS_BIND | kernel.MS_REC
        kernel.mount(f"/proc/self/fd/{groups}", "/sys/fs/cgroup", None, bind)


def mount_own_run(folder):
    """A private /run in which only the offices' state stays visible."""
    root = os.path.dirname(folder)
    state = os.open(root, os.O_PATH)
    kernel.mount("tmpfs", "/run", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755")
    for path, mode in (("/run/sshd", 0o755), ("/run/lock", 0o1777), (SESSION_FOLDER, 0o1777)):
        os.mkdir(path)
        os.chmod(path, mode)
    if root.startswith(("/run/", "/var/run/")):
        os.makedirs(root)
        kernel.mount(f"/proc/self/fd/{state}", root, None, kernel.MS_BIND | kernel.MS_REC)
    os.close(state)


def mount_all(folder, name, home):
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=1777")
    mount_own_sys()
    mount_own_run(folder)
    if home:
        kernel.mount(home, "/root", None, kernel.MS_BIND | kernel.MS_REC)
    for source, target in bindings(folder, name):
        if os.path.exists(target):
            kernel.mount(source, target, None, kernel.MS_BIND)


def start_sshd(folder, name):
    own = pc_folder(folder, name)
    with open(os.path.join(own, "sshd.log"), "ab") as log:
        return subprocess.Popen(
            [tool("sshd"), "-D", "-e", "-f", os.path.join(own, "sshd_config")],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"},
        )


def wait_for_sshd(folder, name, sshd, patience=10.0):
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and sshd.poll() is None:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", 22), timeout=1).close()
            return
        time.sleep(0.01)
    with open(os.path.join(pc_folder(folder, name), "sshd.log"), encoding="utf-8") as log:
        raise OSError(f"sshd of {name} does not run: {' '.join(log.read().split())}")


def reap_until(pid):
    """Collects orphans of the PC until the process `pid` ends; None: for ever."""
    while True:
        try:
            if os.waitpid(-1, 0)[0] == pid:
                return
        except ChildProcessError:
            time.sleep(3600)


def run_pc(folder, name, home, up):
    socket.sethostname(name)
    mount_all(folder, name, home)
    up.say("made")
    up.hear("connected")
    sshd = start_sshd(folder, name)
    wait_for_sshd(folder, name, sshd)
    up.say("ready")
    up.hear("stay")
    reap_until(sshd.pid)


def run_switch(up):
    up.say("made")
    up.hear("connected")
    up.say("ready")
    up.hear("stay")
    reap_until(None)


class Conversation:
    def __init__(self, descriptor):
        self.socket = socket.socket(fileno=descriptor)
        self.lines = self.socket.makefile("r", encoding="utf-8")

    def say(self, line):
        self.socket.sendall(line.encode() + b"\n")

    def hear(self, expected):
        if self.lines.readline().strip() != expected:
            os._exit(1)


def main(arguments):
    """Arguments: state folder, kind ("pc" or "switch"), name, home folder or "", socket."""
    folder, kind, name, home, descriptor = arguments
    up = Conversation(int(descriptor))
    try:
        kernel.unshare(PC_NAMESPACES if kind == "pc" else SWITCH_NAMESPACES)
        child = os.fork()
        if child != 0:
            up.say(f"pid {child}")
            os._exit(0)
        if kind == "pc":
            run_pc(folder, name, home, up)
        else:
            run_switch(up)
    except (OSError, subprocess.SubprocessError) as error:
        with contextlib.suppress(OSError):
            up.say("error " + " ".join(str(error).split()))
    sys.exit(1)
