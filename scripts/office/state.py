"""Where running offices are recorded: one folder each, under one lock."""
import contextlib
import fcntl
import json
import os
import shutil

from office.errors import BAD_INPUT, OfficeError

ROOT_VARIABLE = "EGPU_OFFICES_ROOT"  # handed on when entering a user namespace


def root_folder():
    if given := os.environ.get(ROOT_VARIABLE):
        return given
    if os.geteuid() == 0:
        return "/run/egpu-offices"
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return os.path.join(runtime, "egpu-offices")
    return f"/tmp/egpu-offices-{os.geteuid()}"


def make_root():
    root = root_folder()
    os.makedirs(root, mode=0o700, exist_ok=True)
    if os.stat(root).st_uid != os.geteuid():
        raise OfficeError(
            f"keep the office's state in {root}",
            "the folder belongs to somebody else",
            "remove it, or set XDG_RUNTIME_DIR to a folder of yours",
        )


@contextlib.contextmanager
def locked():
    """Held while offices are raised, changed or removed; removed with the last office."""
    path = os.path.join(root_folder(), ".lock")
    while True:
        make_root()
        with contextlib.suppress(FileNotFoundError):
            file = open(path, "w", encoding="utf-8")
            fcntl.flock(file, fcntl.LOCK_EX)
            # Another process may have removed the file while this one waited.
            if os.path.exists(path) and os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                break
            file.close()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if os.listdir(root_folder()) == [".lock"]:
                os.unlink(path)
                os.rmdir(root_folder())
        file.close()


def folder_of(name):
    return os.path.join(root_folder(), name)


def office_names():
    try:
        names = sorted(os.listdir(root_folder()))
    except OSError:
        return []
    return [name for name in names if os.path.isdir(folder_of(name))]


def boot_id():
    with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
        return file.read().strip()


def load(name):
    """The recorded state; None if there is none, or it is of an earlier boot."""
    try:
        with open(os.path.join(folder_of(name), "office.json"), encoding="utf-8") as file:
            state = json.load(file)
    except (OSError, ValueError):
        return None
    return state if state.get("boot") == boot_id() else None


def save(state):
    path = os.path.join(folder_of(state["name"]), "office.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(state, file, indent=1)
    os.replace(path + ".new", path)


def remove(name):
    shutil.rmtree(folder_of(name), ignore_errors=True)
    if os.path.exists(folder_of(name)):
        raise OfficeError(
            f"remove the office {name}",
            f"{folder_of(name)} could not be removed",
            "remove that folder by hand",
        )


def pc_state(state, pc):
    if pc not in state["pcs"]:
        raise OfficeError(
            f"find the PC '{pc}' in the office {state['name']}",
            f"it has {', '.join(state['pcs'])}",
            "name one of these",
            BAD_INPUT,
        )
    return state["pcs"][pc]


def free_subnet():
    """First three numbers of a /24 that no running office has; call under the lock."""
    taken = set()
    for name in office_names():
        if state := load(name):
            taken.add(state["subnet"])
    for second in range(77, 127):
        for third in range(256):
            subnet = f"10.{second}.{third}"
            if subnet not in taken:
                return subnet
    raise OfficeError("find a free network", "all are taken", "take an office down")
