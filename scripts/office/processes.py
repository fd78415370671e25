"""Processes of an office: who they are, and their certain end.

A process is known by its id and start time, so that a reused id is never killed.
"""
import os
import signal
import time

from office.kernel import namespace_id

OFFICE_VARIABLE = "EGPU_OFFICE"  # state folder of the office a process belongs to


def start_time(pid):
    """Clock ticks since boot; None if there is no such process or it is a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def is_alive(holder):
    return holder is not None and start_time(holder["pid"]) == holder["start"]


def kill(pid, start):
    """True if the process was there and got SIGKILL."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if start_time(pid) != start:
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        return True
    except OSError:
        return False
    finally:
        os.close(handle)


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _read(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def _is_marked(pid, folder):
    """Started by this office: a holder (its command line) or marked (its environment)."""
    command = _read(pid, "cmdline")
    if b"--hold" in command and os.fsencode(folder) in command:
        return True
    mark = os.fsencode(f"{OFFICE_VARIABLE}={folder}")
    return mark in _read(pid, "environ")


def namespaces_of(holders):
    """Ids of the namespaces that living holders pin."""
    found = set()
    for holder in holders.values():
        if is_alive(holder):
            for kind in ("net", "pid", "mnt"):
                found.add(namespace_id(holder["pid"], kind))
    own = {namespace_id("self", kind) for kind in ("net", "pid", "mnt")}
    return found - own - {None}


def members(folder, namespaces):
    """Processes of an office as (pid, start), also those nobody recorded."""
    found = []
    for pid in all_pids():
        start = start_time(pid)
        if start is None or pid == os.getpid():
            continue
        inside = any(namespace_id(pid, kind) in namespaces for kind in ("net", "pid", "mnt"))
        if inside or _is_marked(pid, folder):
            found.append((pid, start))
    return found


def end_all(folder, holders, patience=10.0):
    """Kills every process of an office; returns those that would not die."""
    namespaces = namespaces_of(holders)
    deadline = time.monotonic() + patience
    while left := members(folder, namespaces):
        if time.monotonic() > deadline:
            return left
        for pid, start in left:
            kill(pid, start)
        time.sleep(0.02)
    return []
