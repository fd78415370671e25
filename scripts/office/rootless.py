"""Raising an office without root: inside a user namespace, where one is root."""
import os
import shutil
import subprocess
import sys

from office import state as states
from office.errors import ENVIRONMENT, OfficeError

ENTERED = "EGPU_OFFICE_HOME"  # set inside; the user's home, which becomes root's
NAMESPACE = ["unshare", "--user", "--map-root-user", "--map-auto"]
ADVICE = {
    "unshare": "install util-linux 2.38 or newer",
    "newuidmap": "install uidmap",
    "subuid": "as root: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {user}",
    "kernel": "as root: sysctl kernel.unprivileged_userns_clone=1 "
    "kernel.apparmor_restrict_unprivileged_userns=0 (those that exist), or run with sudo",
}


def user_name():
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def has_subordinate_ids(path):
    try:
        with open(path, encoding="utf-8") as file:
            owners = [line.split(":")[0] for line in file]
    except OSError:
        return False
    return user_name() in owners or str(os.getuid()) in owners


def missing(found, key):
    raise OfficeError(
        "raise a virtual office without root",
        found,
        ADVICE[key].format(user=user_name()) + "; or run it as root",
        ENVIRONMENT,
    )


def probe():
    """Raises an error that names exactly what a user namespace lacks here."""
    for program, key in (("unshare", "unshare"), ("newuidmap", "newuidmap")):
        if shutil.which(program) is None:
            missing(f"no program '{program}'", key)
    for path in ("/etc/subuid", "/etc/subgid"):
        if not has_subordinate_ids(path):
            missing(f"no line for {user_name()} in {path}", "subuid")
    inner = "mount -t tmpfs tmpfs /dev/shm && ip link set lo up"
    trial = [*NAMESPACE, "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--mount-proc"]
    result = subprocess.run(
        [*trial, "sh", "-c", f"PATH=$PATH:/usr/sbin:/sbin; {inner}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        missing(" ".join(result.stderr.split()) or "new namespaces are refused", "kernel")


def enter_if_needed():
    """Starts this program again inside a user namespace unless root already."""
    if os.geteuid() == 0:
        return
    probe()
    os.environ[states.ROOT_VARIABLE] = states.root_folder()
    os.environ[ENTERED] = os.path.expanduser("~")
    os.execvp(NAMESPACE[0], [*NAMESPACE, sys.executable, *sys.argv])
