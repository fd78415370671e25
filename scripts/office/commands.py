"""The commands of virtual_office. Each takes its arguments, returns an exit status."""
import json
import os
import sys

from office import state as states
from office.errors import BAD_INPUT, RUN, OfficeError
from office.processes import OFFICE_VARIABLE, is_alive


def usage_error(asked, found):
    return OfficeError(asked, found, "virtual_office --help shows the commands", BAD_INPUT)


def take(arguments, low, high, usage):
    if not low <= len(arguments) <= high:
        raise usage_error(f"run: virtual_office {usage}", f"{len(arguments)} argument(s)")
    return arguments


def name_of(file_or_name):
    """An office is named by its file, or, when it runs, by its name."""
    if not file_or_name.endswith(".toml"):
        if "/" in file_or_name or file_or_name.startswith("."):
            raise usage_error("name an office", f"'{file_or_name}' is no .toml file")
        return file_or_name
    from office.description import OFFICE_NAME, check_name, read_table

    return check_name(file_or_name, "", read_table(file_or_name), OFFICE_NAME)


def refuse_inside(name):
    # By name: without root, a PC and the outside have different state folders.
    if os.path.basename(os.environ.get(OFFICE_VARIABLE, "")) == name:
        raise OfficeError(
            f"manage the office {name}", "this is one of its PCs", "do it from outside", RUN
        )


def running(file_or_name):
    name = name_of(file_or_name)
    refuse_inside(name)
    state = states.load(name)
    if not state or not state["up"]:
        raise OfficeError(
            f"use the office {name}",
            "it is not up",
            f"scripts/virtual_office up {file_or_name}",
            RUN,
        )
    return state


def running_pc(state, name):
    pc = states.pc_state(state, name)
    for holder in ("switch", name):
        if not is_alive(state["holders"].get(holder)):
            raise OfficeError(
                f"use {name} of the office {state['name']}",
                f"{holder} has died",
                f"scripts/virtual_office down {state['name']}, then up again",
                RUN,
            )
    return pc


def pc_report(state, name):
    pc = state["pcs"][name]
    return {
        "name": name,
        "address": f"{state['subnet']}.{pc['number']}",
        "network_gbit": pc["network_gbit"],
        "plugged": pc["plugged"],
        "alive": is_alive(state["holders"].get(name)),
        "machine": pc["machine"],
        "cut_gpus": pc["cut_gpus"],
        "host_link_gb_per_s": pc["host_link_gb_per_s"],
        "host_link_shared": pc["host_link_shared"],
    }


def table_row(report):
    link = f"{report['network_gbit']:g} Gbit/s"
    if not report["plugged"]:
        link += ", cut"
    host = "-"
    if report["host_link_gb_per_s"]:
        shared = " shared" if report["host_link_shared"] else ""
        host = f"{report['host_link_gb_per_s']:g} GB/s{shared}"
    machine = os.path.basename(report["machine"]) if report["machine"] else "-"
    if report["cut_gpus"]:
        machine += " without " + ", ".join(f"gpu{index}" for index in report["cut_gpus"])
    running_text = "running" if report["alive"] else "DEAD"
    return [report["name"], report["address"], running_text, link, host, machine]


def print_office(state):
    print(f"office {state['name']}, network {state['subnet']}.0/24")
    rows = [["PC", "address", "state", "network", "host link", "machine"]]
    rows += [table_row(pc_report(state, name)) for name in state["pcs"]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  " + "  ".join(map(str.ljust, row, widths)).rstrip())


def up(arguments):
    (path,) = take(arguments, 1, 1, "up FILE.toml")
    from office.description import read_office

    office = read_office(path)
    refuse_inside(office.name)
    from office import raising, rootless

    rootless.enter_if_needed()
    state, was_up = raising.up(office)
    print_office(state)
    if was_up:
        print("  (was up already)")
    return 0


def down(arguments):
    (which,) = take(arguments, 1, 1, "down FILE.toml|NAME|--all")
    from office import raising

    names = states.office_names() if which == "--all" else [name_of(which)]
    for name in names:
        refuse_inside(name)
        if raising.down(name):
            print(f"office {name} is down: no process, namespace or mount of it is left")
        else:
            print(f"office {name} is not up: nothing to remove")
    if not names:
        print("no office is up")
    return 0


def status(arguments):
    wanted = [argument for argument in arguments if argument != "--json"]
    take(wanted, 0, 1, "status [FILE.toml|NAME] [--json]")
    names = [name_of(wanted[0])] if wanted else states.office_names()
    found = [state for state in map(states.load, names) if state]
    if "--json" in arguments:
        reports = [
            {
                "name": state["name"],
                "up": state["up"],
                "subnet": state["subnet"] + ".0/24",
                "state_folder": states.folder_of(state["name"]),
                "pcs": [pc_report(state, name) for name in state["pcs"]],
            }
            for state in found
        ]
        print(json.dumps(reports, indent=1))
    for state in found if "--json" not in arguments else []:
        print_office(state)
    if wanted and not found:
        print(f"office {names[0]} is not up", file=sys.stderr)
        return 1
    if not found and "--json" not in arguments:
        print("no office is up")
    return 0


def without_dashes(command):
    return command[1:] if command[:1] == ["--"] else command


def exec_command(arguments):
    usage = "exec FILE.toml|NAME PC -- COMMAND..."
    if len(arguments) < 2 or not without_dashes(arguments[2:]):
        raise usage_error(f"run: virtual_office {usage}", "no command")
    state = running(arguments[0])
    running_pc(state, arguments[1])
    from office import entering

    folder = states.folder_of(state["name"])
    return entering.exec_in_pc(state, folder, arguments[1], without_dashes(arguments[2:]))


def ssh(arguments):
    if len(arguments) < 2:
        raise usage_error("run: virtual_office ssh FILE.toml|NAME PC [COMMAND...]", "no PC")
    state = running(arguments[0])
    running_pc(state, arguments[1])
    from office import entering

    folder = states.folder_of(state["name"])
    return entering.ssh_to_pc(state, folder, arguments[1], without_dashes(arguments[2:]))


def set_plugged(arguments, plugged):
    usage = f"{'plug' if plugged else 'cut'} FILE.toml|NAME PC [gpuN]"
    take(arguments, 2, 3, usage)
    from office import machine, network, pc_files

    with states.locked():
        state = running(arguments[0])
        pc = running_pc(state, arguments[1])
        if len(arguments) == 2:
            network.set_cable(state["holders"]["switch"]["pid"], pc["number"], plugged)
            pc["plugged"] = plugged
            what = "network cable"
        else:
            folder = pc_files.pc_folder(states.folder_of(state["name"]), pc["name"])
            index = machine.gpu_index(folder, pc["name"], arguments[2])
            cut = set(pc["cut_gpus"]) - {index} | (set() if plugged else {index})
            machine.set_cut(folder, cut)
            pc["cut_gpus"] = sorted(cut)
            what = f"gpu{index}"
        states.save(state)
    print(f"{pc['name']}: {what} is {'plugged in' if plugged else 'cut'}")
    return 0


def cut(arguments):
    return set_plugged(arguments, False)


def plug(arguments):
    return set_plugged(arguments, True)


def shape(arguments):
    path, name, text = take(arguments, 3, 3, "shape FILE.toml|NAME PC GBIT")
    from office import network
    from office.description import PC_SETTINGS

    try:
        gbit = float(text)
    except ValueError:
        gbit = None
    if advice := PC_SETTINGS["network_gbit"](gbit):
        raise OfficeError(f"shape the network of {name}", f"'{text}'", advice, BAD_INPUT)
    with states.locked():
        state = running(path)
        pc = running_pc(state, name)
        holders = state["holders"]
        network.shape(holders["switch"]["pid"], holders[name]["pid"], pc["number"], gbit)
        pc["network_gbit"] = gbit
        states.save(state)
    print(f"{name}: network is {gbit:g} Gbit/s")
    return 0


COMMANDS = {
    "up": ("up FILE.toml", "raise the office; does nothing if it is up", up),
    "down": ("down FILE.toml|NAME|--all", "remove all of it, also after a crash", down),
    "status": ("status [FILE.toml|NAME] [--json]", "show what is up", status),
    "exec": ("exec FILE.toml|NAME PC -- COMMAND...", "run a command in a PC", exec_command),
    "ssh": ("ssh FILE.toml|NAME PC [COMMAND...]", "log in over the office's network", ssh),
    "cut": ("cut FILE.toml|NAME PC [gpuN]", "pull the network cable, or an eGPU", cut),
    "plug": ("plug FILE.toml|NAME PC [gpuN]", "put it back", plug),
    "shape": ("shape FILE.toml|NAME PC GBIT", "change a cable's rate, live", shape),
}
