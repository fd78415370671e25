"""The office's network: one switch, one cable per PC, each with its own rate.

The switch is a bridge in a namespace of its own: the machine's network is never
touched, and everything vanishes with the namespaces.
"""
import shutil
import subprocess

from office.errors import ENVIRONMENT, OfficeError
from office.kernel import enter

PC_INTERFACE = "eth0"
SWITCH_NUMBER = 254  # the switch's own address ends in this


def tool(name):
    path = shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/sbin:/usr/local/bin")
    if path is None:
        raise OfficeError(
            "raise a virtual office", f"no program '{name}'", "run scripts/setup", ENVIRONMENT
        )
    return path


def batch(pid, program, lines):
    """Runs `ip` or `tc` commands in the network namespace of a process."""
    result = subprocess.run(
        [tool(program), "-batch", "-"],
        input="\n".join(lines) + "\n",
        text=True,
        capture_output=True,
        preexec_fn=lambda: enter(pid, ["net"]),
        check=False,
    )
    if result.returncode != 0:
        raise OfficeError(
            f"set up the office's network with {program}",
            " ".join(result.stderr.split()) or f"exit status {result.returncode}",
            "the kernel must offer bridge, veth and the tbf queue (modprobe sch_tbf)",
            ENVIRONMENT,
        )


def port_name(number):
    return f"port{number}"


def burst_bytes(gbit):
    """2 ms of the rate, but room for one packet of offloaded (64 KiB) segments."""
    return max(70_000, int(gbit * 1e9 / 8 * 0.002))


def shaping(interface, gbit):
    return (
        f"qdisc replace dev {interface} root tbf rate {int(gbit * 1e6)}kbit "
        f"burst {burst_bytes(gbit)}b latency 50ms"
    )


def make_switch(switch_pid, subnet):
    lines = [
        "link set lo up",
        "link add office type bridge stp_state 0 forward_delay 0",
        f"addr add {subnet}.{SWITCH_NUMBER}/24 dev office",
        "link set office up",
    ]
    batch(switch_pid, "ip", lines)


def connect(switch_pid, pc_pid, number, subnet):
    port = port_name(number)
    lines = [
        f"link add {port} type veth peer name {PC_INTERFACE} netns {pc_pid}",
        f"link set {port} master office up",
    ]
    batch(switch_pid, "ip", lines)
    lines = [
        "link set lo up",
        f"addr add {subnet}.{number}/24 dev {PC_INTERFACE}",
        f"link set {PC_INTERFACE} up",
    ]
    batch(pc_pid, "ip", lines)


def shape(switch_pid, pc_pid, number, gbit):
    batch(switch_pid, "tc", [shaping(port_name(number), gbit)])
    batch(pc_pid, "tc", [shaping(PC_INTERFACE, gbit)])


def set_cable(switch_pid, number, plugged):
    """A cut cable is a switch port that is down: the PC loses its carrier."""
    state = "up" if plugged else "down"
    batch(switch_pid, "ip", [f"link set {port_name(number)} {state}"])
