"""The files that make a PC a PC: names, keys, sshd's and ssh's configuration.

All lie in the office's state folder; the PC sees them bound over /etc.
"""
import json
import os
import shutil
import subprocess
import uuid

from office.network import SWITCH_NUMBER, tool
from office.processes import OFFICE_VARIABLE

# In a PC, Open MPI's session files lie in the PC's own /run.
SESSION_FOLDER = "/run/openmpi"
# Several PCs share this machine's cores, so waiting ranks must give way to the
# kernel's packet handling; the user of a PC is its root.
MPI_SETTINGS = {
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_orte_tmpdir_base": SESSION_FOLDER,
    "PRTE_MCA_prte_tmpdir_base": SESSION_FOLDER,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}

SSH_CONFIG = """\
Host *
  IdentityFile {folder}/key
  IdentitiesOnly yes
  BatchMode yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  GlobalKnownHostsFile /dev/null
  AddressFamily inet
  ConnectTimeout 10
  LogLevel ERROR
"""

SSHD_CONFIG = """\
Port 22
ListenAddress {address}
ListenAddress 127.0.0.1
HostKey {folder}/key
AuthorizedKeysFile {folder}/key.pub
AuthenticationMethods publickey
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
UseDNS no
PidFile none
PrintMotd no
PrintLastLog no
MaxStartups 200
MaxSessions 200
LogLevel ERROR
SetEnv {environment}
"""


def pc_folder(folder, name):
    return os.path.join(folder, "pcs", name)


def write(path, text, mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def make_office_files(folder, subnet, names):
    make_key = [tool("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", "office"]
    result = subprocess.run(
        [*make_key, "-f", os.path.join(folder, "key")], capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        raise OSError(f"ssh-keygen failed: {result.stdout}{result.stderr}")
    write(os.path.join(folder, "ssh_config"), SSH_CONFIG.format(folder=folder))
    lines = ["127.0.0.1 localhost", "::1 localhost", f"{subnet}.{SWITCH_NUMBER} switch"]
    lines += [f"{subnet}.{number} {name}" for number, name in enumerate(names, start=1)]
    write(os.path.join(folder, "hosts"), "\n".join(lines) + "\n")
    # An account without a password, not a locked one: sshd refuses those.
    write(os.path.join(folder, "shadow"), "root:*:19000:0:99999:7:::\n", 0o600)


def machine_link(folder, name):
    return os.path.join(pc_folder(folder, name), "machine")


def pc_environment(folder, pc):
    """What every process of a PC gets, through sshd or exec."""
    variables = {OFFICE_VARIABLE: folder, **MPI_SETTINGS}
    if pc["machine"]:
        variables["EGPU_MACHINE"] = machine_link(folder, pc["name"])
    if pc["host_link_gb_per_s"]:
        link = {
            "gb_per_s": pc["host_link_gb_per_s"],
            "shared": pc["host_link_shared"],
            "state": os.path.join(pc_folder(folder, pc["name"]), "host_link"),
        }
        variables["EGPU_HOST_LINK"] = json.dumps(link, separators=(",", ":"))
    return variables


def quoted(name, value):
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{name}={escaped}"'


def make_pc_files(folder, pc, address):
    own = pc_folder(folder, pc["name"])
    os.makedirs(own)
    variables = pc_environment(folder, pc)
    text = SSHD_CONFIG.format(
        address=address,
        folder=folder,
        environment=" ".join(quoted(*item) for item in variables.items()),
    )
    write(os.path.join(own, "sshd_config"), text)
    write(os.path.join(own, "hostname"), pc["name"] + "\n")
    write(os.path.join(own, "machine-id"), uuid.uuid4().hex + "\n")
    write(os.path.join(own, "boot_id"), str(uuid.uuid4()) + "\n")
    write(os.path.join(own, "host_link"), "", 0o666)
    if pc["machine"]:
        copy = machine_link(folder, pc["name"]) + ".0"
        shutil.copytree(pc["machine"], copy, symlinks=True)
        os.symlink(os.path.basename(copy), machine_link(folder, pc["name"]))


def bindings(folder, name):
    """(file, where the PC sees it); places that do not exist are left out."""
    own = pc_folder(folder, name)
    return [
        (os.path.join(folder, "hosts"), "/etc/hosts"),
        (os.path.join(folder, "shadow"), "/etc/shadow"),
        (os.path.join(folder, "ssh_config"), "/etc/ssh/ssh_config"),
        (os.path.join(own, "hostname"), "/etc/hostname"),
        (os.path.join(own, "machine-id"), "/etc/machine-id"),
        (os.path.join(own, "boot_id"), "/proc/sys/kernel/random/boot_id"),
    ]
