"""A PC's copy of a recorded machine, in which an eGPU can be cut and plugged.

The copy "machine.N" is always derived from the pristine "machine.0" and the set of
cut GPUs, then the link "machine" is switched to it, so readers see either tree.
"""
import json
import os
import shutil

from office.errors import BAD_INPUT, OfficeError

# Fields that no failing call could answer.
KEPT_FIELDS = ("index", "uuid", "name", "pci_bus_id")
LOST = "GPU_IS_LOST"


def read_nvml(folder):
    with open(os.path.join(folder, "nvml.json"), encoding="utf-8") as file:
        return json.load(file)


def gpu_index(folder, pc, text):
    """ "gpu1" (or "1") -> 1, checked against the machine's GPUs."""
    if not os.path.exists(os.path.join(folder, "machine.0")):
        raise OfficeError(
            f"find the GPU '{text}' of {pc}",
            "this PC has no recorded machine",
            "give it one in the office file: machine = \"...\"",
            BAD_INPUT,
        )
    count = len(read_nvml(os.path.join(folder, "machine.0"))["devices"])
    number = text.removeprefix("gpu")
    if not number.isdecimal() or int(number) >= count:
        known = ", ".join(f"gpu{index}" for index in range(count)) or "no GPU"
        raise OfficeError(
            f"find the GPU '{text}' of {pc}", f"it has {known}", "name one of these", BAD_INPUT
        )
    return int(number)


def slot_of(pci_bus_id):
    """ "00000000:2F:00.0" -> "0000:2f:00", as sysfs writes it, without the function."""
    domain, bus, rest = pci_bus_id.lower().split(":")
    return f"{int(domain, 16):04x}:{bus}:{rest.split('.')[0]}"


def remove_slot(tree, slot):
    """Removes the folders of all functions in a slot, and every link to or into them."""
    for folder, folders, files in os.walk(os.path.join(tree, "sys")):
        for name in list(folders):
            path = os.path.join(folder, name)
            if name.startswith(slot + ".") and not os.path.islink(path):
                shutil.rmtree(path)
                folders.remove(name)
        for name in folders + files:
            path = os.path.join(folder, name)
            if os.path.islink(path) and f"/{slot}." in os.readlink(path):
                os.unlink(path)


def lose(facts, index):
    device = facts["devices"][index]
    kept = {key: device[key] for key in KEPT_FIELDS if key in device}
    failing = {key: None for key in device if key not in KEPT_FIELDS}
    failing["errors"] = {call: LOST for call in failing if call != "errors"}
    facts["devices"][index] = {**kept, **failing}


def derive(pristine, target, cut):
    shutil.copytree(pristine, target, symlinks=True)
    facts = read_nvml(pristine)
    for index in cut:
        bus_id = facts["devices"][index].get("pci_bus_id")
        if bus_id:
            remove_slot(target, slot_of(bus_id))
        lose(facts, index)
    with open(os.path.join(target, "nvml.json"), "w", encoding="utf-8") as file:
        json.dump(facts, file, indent=1)


def set_cut(folder, cut):
    """`cut`: indices of all GPUs that are unplugged now."""
    old = os.readlink(os.path.join(folder, "machine"))
    new = f"machine.{int(old.split('.')[1]) + 1}" if cut else "machine.0"
    if cut:
        derive(os.path.join(folder, "machine.0"), os.path.join(folder, new), sorted(cut))
    switch = os.path.join(folder, "machine.next")
    os.symlink(new, switch)
    os.rename(switch, os.path.join(folder, "machine"))
    if old not in (new, "machine.0"):
        shutil.rmtree(os.path.join(folder, old))
