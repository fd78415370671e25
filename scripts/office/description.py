"""The office file: TOML in, a checked Office out. Nothing here starts anything."""
import difflib
import os
import re
import tomllib
from dataclasses import asdict, dataclass, field

from office.errors import BAD_INPUT, OfficeError, bad_key

MAX_PCS = 64
OFFICE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,30}")
PC_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")


@dataclass(frozen=True)
class Pc:
    name: str
    network_gbit: float = 1.0  # Gbit/s in each direction
    machine: str | None = None  # absolute path of a recorded machine
    host_link_gb_per_s: float | None = None  # GB/s of the paced host link
    host_link_shared: bool = False  # its GPUs share that rate


@dataclass(frozen=True)
class Office:
    name: str
    pcs: list[Pc] = field(default_factory=list)

    def as_dict(self):
        return asdict(self)


def checked_number(low, high, unit):
    def check(value):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return f"write a number of {unit}"
        if not low <= value <= high:
            return f"write a number from {low:g} to {high:g} ({unit})"
        return None

    return check


def checked_bool(value):
    return None if isinstance(value, bool) else "write true or false"


def checked_text(value):
    return None if isinstance(value, str) and value else "write a text in quotes"


# Keys that a PC may have, or the whole file as the default of all its PCs.
PC_SETTINGS = {
    "network_gbit": checked_number(0.001, 100, "Gbit/s"),
    "machine": checked_text,
    "host_link_gb_per_s": checked_number(0.001, 1000, "GB/s"),
    "host_link_shared": checked_bool,
}
OFFICE_KEYS = ["name", "pc", *PC_SETTINGS]
PC_KEYS = ["name", *PC_SETTINGS]


def check_keys(path, where, table, known):
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            meant = f"write '{near[0]}'; " if near else ""
            raise bad_key(
                path, where + key, "unknown key", f"{meant}known: {', '.join(known)}"
            )


def check_settings(path, where, table):
    settings = {key: table[key] for key in PC_SETTINGS if key in table}
    for key, value in settings.items():
        if advice := PC_SETTINGS[key](value):
            raise bad_key(path, where + key, repr(value), advice)
    if "machine" in settings:
        folder = os.path.join(os.path.dirname(path), settings["machine"])
        settings["machine"] = os.path.realpath(folder)
        if not os.path.isfile(os.path.join(settings["machine"], "nvml.json")):
            raise bad_key(
                path,
                where + "machine",
                f"no recorded machine in {settings['machine']} (no nvml.json)",
                "name a folder that `egpu-topo record` made, relative to the office file",
            )
    return settings


def check_name(path, where, table, pattern):
    name = table.get("name")
    if not isinstance(name, str) or not pattern.fullmatch(name):
        raise bad_key(
            path,
            where + "name",
            "nothing" if name is None else repr(name),
            f"give a name of the form {pattern.pattern}",
        )
    return name


def office_from_table(path, table):
    check_keys(path, "", table, OFFICE_KEYS)
    name = check_name(path, "", table, OFFICE_NAME)
    defaults = check_settings(path, "", table)
    rows = table.get("pc")
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_PCS:
        found = f"{len(rows)} PCs" if isinstance(rows, list) else "no [[pc]]"
        raise bad_key(path, "pc", found, f"describe 1 to {MAX_PCS} PCs, each as [[pc]]")
    pcs, seen = [], set()
    for number, row in enumerate(rows, start=1):
        where = f"pc[{number}]."
        if not isinstance(row, dict):
            raise bad_key(path, where, repr(row), "describe each PC as [[pc]]")
        check_keys(path, where, row, PC_KEYS)
        pc_name = check_name(path, where, row, PC_NAME)
        if pc_name in seen or pc_name == "localhost":
            raise bad_key(
                path, where + "name", f"'{pc_name}' is taken", "give each PC its own name"
            )
        seen.add(pc_name)
        pcs.append(Pc(pc_name, **{**defaults, **check_settings(path, where, row)}))
    return Office(name, pcs)


def read_table(path):
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise OfficeError(
            f"read the office file {path}",
            error.strerror,
            "name an office file, for example scripts/offices/two_pcs.toml",
            BAD_INPUT,
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OfficeError(
            f"read the office file {path}", str(error), "write it as TOML", BAD_INPUT
        ) from None


def read_office(path):
    return office_from_table(path, read_table(path))
