"""Linux calls that Python's standard library lacks: namespaces and mounts."""
import ctypes
import os

CLONE_FLAGS = {
    "mnt": 0x00020000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "net": 0x40000000,
    "pid": 0x20000000,
}
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = (
    0x2, 0x4, 0x8, 0x1000, 0x4000, 0x40000,
)
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(kinds):
    """Gives this process new namespaces; of "pid", its next child is the first."""
    flags = sum(CLONE_FLAGS[kind] for kind in kinds)
    _check(_libc.unshare(flags), f"unshare({', '.join(kinds)})")


def mount(source, target, kind=None, flags=0, data=None):
    text = [None if part is None else os.fsencode(part) for part in (source, target, kind, data)]
    result = _libc.mount(text[0], text[1], text[2], ctypes.c_ulong(flags), text[3])
    _check(result, f"mount {source} on {target}")


def die_with_parent(signal_number):
    """Only survives until the next exec of a set-user-id program."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "prctl")


def namespace_id(pid, kind):
    """For example "net:[4026531840]", or None if the process is gone or not ours."""
    try:
        return os.readlink(f"/proc/{pid}/ns/{kind}")
    except OSError:
        return None


def enter(pid, kinds):
    """Joins namespaces of a process. Of "pid", only the next child is inside."""
    files = []
    for kind in ["user", *kinds]:
        # Joining the user namespace one is already in is an error.
        if kind != "user" or namespace_id(pid, "user") != namespace_id("self", "user"):
            files.append(os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC))
    for file in files:
        _check(_libc.setns(file, 0), f"setns of process {pid}")
        os.close(file)
