"""The virtual office as a whole: real ssh, real mpirun, measured rates, no remains."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from office import (  # noqa: E402
    SOURCE,
    VIRTUAL_OFFICE,
    Office,
    processes_in,
    skip_reason,
    virtual_office,
)

RATE_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rate.py")

LEFT_ALONE = "setsid -f sleep {} </dev/null >/dev/null 2>&1"


def setUpModule():
    if reason := skip_reason():
        raise unittest.SkipTest(reason)


def wait_until(condition, patience=20):
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def outside():
    """What must be the same on this machine after an office as before."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = sorted(line.split()[4] for line in file)
    named = os.listdir("/run/netns") if os.path.isdir("/run/netns") else []
    with open("/etc/hosts", encoding="utf-8") as file:
        hosts = file.read()
    return {
        "interfaces": sorted(os.listdir("/sys/class/net")),
        "mounts": mounts,
        "named namespaces": sorted(named),
        "hosts": hosts,
    }


def lines_of(result):
    return sorted(result.stdout.split())


class Inside(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.office = Office({"pc1": {"host_link_gb_per_s": 2.5, "host_link_shared": True}, "pc2": {}})
        cls.addClassCleanup(cls.office.close)
        cls.office.up()

    def output(self, pc, *command):
        result = self.office.exec(pc, *command)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip()

    def test_up_again_changes_nothing(self):
        before = self.office.namespaces()
        self.assertIn("was up already", self.office.up())
        self.assertEqual(self.office.namespaces(), before)

    def test_each_pc_has_its_own_identity(self):
        for command in (
            ["hostname"],
            ["cat", "/etc/hostname"],
            ["cat", "/etc/machine-id"],
            ["cat", "/proc/sys/kernel/random/boot_id"],
        ):
            with self.subTest(command=command):
                self.assertNotEqual(self.output("pc1", *command), self.output("pc2", *command))
        self.assertEqual(self.output("pc1", "hostname"), "pc1")

    def test_shared_memory_and_devices_are_private(self):
        self.output("pc1", "touch", "/dev/shm/only_here")
        self.assertEqual(self.output("pc2", "ls", "/dev/shm"), "")
        self.assertFalse(os.path.exists("/dev/shm/only_here"))
        self.assertEqual(self.output("pc1", "ls", "/sys/class/net").split(), ["eth0", "lo"])

    def test_the_checkout_and_tmp_are_shared(self):
        with tempfile.NamedTemporaryFile("w", dir="/tmp", suffix=".office") as file:
            self.assertEqual(self.output("pc1", "ls", file.name), file.name)
        self.output("pc2", "test", "-x", VIRTUAL_OFFICE)

    def test_plain_ssh_works_between_pcs(self):
        self.assertEqual(self.output("pc1", "ssh", "pc2", "hostname"), "pc2")
        self.assertEqual(self.output("pc2", "ssh", "pc1", "hostname"), "pc1")

    def test_ssh_from_outside(self):
        result = self.office.run("ssh", "pc2", "hostname; exit 7")
        self.assertEqual((result.stdout.strip(), result.returncode), ("pc2", 7))

    def test_mpirun_reaches_both_pcs(self):
        result = self.office.exec("pc1", "mpirun", "-H", "pc1,pc2", "hostname")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(lines_of(result), ["pc1", "pc2"])
        self.assertEqual(result.stderr, "")

    def test_environment_of_a_pc_through_exec_and_ssh(self):
        for command in (["exec", "pc1", "--", "env"], ["ssh", "pc1", "env"]):
            with self.subTest(command=command[0]):
                lines = self.office.run(*command).stdout.splitlines()
                found = dict(line.split("=", 1) for line in lines if "=" in line)
                link = json.loads(found["EGPU_HOST_LINK"])
                self.assertEqual((link["gb_per_s"], link["shared"]), (2.5, True))
                self.assertTrue(os.path.exists(link["state"]))
                self.assertNotIn("EGPU_MACHINE", found)
        self.assertNotIn("EGPU_HOST_LINK", self.output("pc2", "env"))

    def test_exec_hands_environment_and_folder_on(self):
        command = ["sh", "-c", "echo $EGPU_OF_CALLER; pwd"]
        environment = {**os.environ, "EGPU_OF_CALLER": "yes"}
        result = self.office.exec("pc1", *command, env=environment, cwd=SOURCE)
        self.assertEqual(result.stdout.split(), ["yes", os.path.realpath(SOURCE)])

    def test_exec_returns_status_and_passes_stdin(self):
        self.assertEqual(self.office.exec("pc1", "sh", "-c", "exit 42").returncode, 42)
        self.assertEqual(self.office.exec("pc1", "sh", "-c", "kill -9 $$").returncode, 137)
        self.assertEqual(self.office.exec("pc1", "no-such-program").returncode, 127)
        self.assertEqual(self.office.exec("pc1", "/etc/hosts").returncode, 126)
        self.assertEqual(self.office.exec("pc1", "cat", input="through").stdout, "through")

    def test_exec_passes_signals(self):
        script = "trap 'exit 5' TERM; echo started; while :; do sleep 0.05; done"
        with self.office.popen("pc1", "bash", "-c", script, stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), "started\n")
            process.terminate()
            self.assertEqual(process.wait(20), 5)

    def test_a_killed_exec_takes_its_command_along(self):
        with self.office.popen("pc1", "sleep", "987") as process:
            self.assertTrue(wait_until(lambda: "sleep 987" in self.office.pids("pc1").values()))
            process.kill()
        self.assertTrue(wait_until(lambda: "sleep 987" not in self.office.pids("pc1").values()))

    def test_unknown_pc_is_an_error(self):
        result = self.office.exec("pc9", "true")
        self.assertEqual(result.returncode, 2)
        self.assertIn("pc1, pc2", result.stderr)

    def test_managing_from_inside_is_refused(self):
        result = self.office.exec("pc1", VIRTUAL_OFFICE, "down", self.office.name)
        self.assertEqual(result.returncode, 1)
        self.assertIn("one of its PCs", result.stderr)


class Network(unittest.TestCase):
    def measured_gbit(self, office, seconds=1.5):
        with office.popen("pc2", sys.executable, RATE_PROGRAM, "receive", stdout=subprocess.PIPE) as receiver:
            office.exec("pc1", sys.executable, RATE_PROGRAM, "send", "pc2", str(seconds), check=True)
            return float(receiver.communicate(timeout=60)[0])

    def test_rates_hold_and_change_live(self):
        with Office(network_gbit=0.1) as office:
            for gbit in (0.1, 1.0, 2.5):
                with self.subTest(gbit=gbit):
                    office.shape("pc1", gbit)
                    office.shape("pc2", gbit)
                    measured = self.measured_gbit(office)
                    print(f"\n  {gbit} Gbit/s: measured {measured:.4f} Gbit/s of payload")
                    self.assertLessEqual(measured, 1.02 * gbit)
                    # Busy machines are slow; the slowest rate must hold anywhere.
                    self.assertGreater(measured, (0.85 if gbit < 1 else 0.3) * gbit)
            self.assertEqual(office.status()["pcs"][0]["network_gbit"], 2.5)

    def test_the_slower_cable_decides(self):
        with Office({"pc1": {"network_gbit": 1.0}, "pc2": {"network_gbit": 0.05}}) as office:
            measured = self.measured_gbit(office)
            self.assertLessEqual(measured, 0.05 * 1.05)

    def test_cut_and_plug_the_cable(self):
        knock = ["ssh", "-o", "ConnectTimeout=2", "pc2", "hostname"]
        with Office() as office:
            office.cut("pc2")
            self.assertFalse(office.status()["pcs"][1]["plugged"])
            self.assertNotEqual(office.exec("pc1", *knock).returncode, 0)
            self.assertEqual(office.exec("pc2", "cat", "/sys/class/net/eth0/carrier").stdout, "0\n")
            office.plug("pc2")
            self.assertTrue(wait_until(lambda: office.exec("pc1", *knock).stdout == "pc2\n"))

    def test_two_offices_at_once(self):
        with Office() as one, Office() as two:
            self.assertNotEqual(one.status()["subnet"], two.status()["subnet"])
            for office in (one, two):
                result = office.exec("pc1", "mpirun", "-H", "pc1,pc2", "hostname")
                self.assertEqual(lines_of(result), ["pc1", "pc2"], result.stderr)
            address = two.status()["pcs"][0]["address"]
            stranger = one.exec("pc1", "ssh", "-o", "ConnectTimeout=2", address, "true")
            self.assertNotEqual(stranger.returncode, 0)
            one.down()
            self.assertEqual(two.exec("pc1", "ssh", "pc2", "hostname").stdout, "pc2\n")


class Remains(unittest.TestCase):
    def test_down_leaves_nothing(self):
        before = outside()
        with Office() as office:
            folder = office.status()["state_folder"]
            office.exec("pc1", "touch", f"/dev/shm/{office.name}")
            office.exec("pc1", "sh", "-c", LEFT_ALONE.format(986))
            office.exec("pc1", "ssh", "pc2", LEFT_ALONE.format(985))
            self.assertIn("sleep 986", office.pids("pc1").values())
            self.assertIn("sleep 985", office.pids("pc2").values())
            inside = processes_in(office.namespaces())
            self.assertGreaterEqual(len(inside), 7)
            self.assertIn("no process", office.down())
            self.assertEqual(inside & all_processes(), set())
            self.assertEqual(holders_of(office.name), [])
            self.assertFalse(os.path.exists(folder))
            self.assertNotIn(office.name, os.listdir("/dev/shm"))
            self.assertIn("nothing to remove", office.down())
        self.assertEqual(outside(), before)

    def test_down_ends_strangers_in_its_network(self):
        if os.geteuid() != 0:
            self.skipTest("joins a namespace from outside, which needs root")
        with Office({"pc1": {}}) as office:
            path = os.path.join(office.status()["state_folder"], "office.json")
            with open(path, encoding="utf-8") as file:
                pid = json.load(file)["holders"]["pc1"]["pid"]
            with subprocess.Popen(["nsenter", f"--net=/proc/{pid}/ns/net", "sleep", "984"]) as stranger:
                self.assertTrue(wait_until(lambda: stranger.pid in dict(processes_in(office.namespaces()))))
                office.down()
                self.assertEqual(stranger.wait(20), -signal.SIGKILL)

    def test_interrupted_up_leaves_nothing(self):
        before = outside()
        for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
            for delay in (0.1, 0.2, 0.3, 0.4):
                with self.subTest(signal=number.name, delay=delay):
                    self.interrupt_up(number, delay)
        self.assertEqual(outside(), before)

    def interrupt_up(self, number, delay):
        office = Office()
        self.addCleanup(shutil.rmtree, office.folder, True)
        up = subprocess.Popen(
            [VIRTUAL_OFFICE, "up", office.file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        with up:
            time.sleep(delay)
            up.send_signal(number)
            status = up.wait(30)
        if number != signal.SIGKILL and status != 0:
            self.assertNotEqual(virtual_office("status", office.name).returncode, 0)
        report = office.status()
        if not (report and report["up"]):
            # Even before anybody calls down, an unfinished `up` keeps no process.
            self.assertTrue(wait_until(lambda: not holders_of(office.name)))
        office.down()
        self.assertEqual(holders_of(office.name), [])

    def test_up_repairs_an_office_that_died(self):
        with Office() as office:
            path = os.path.join(office.status()["state_folder"], "office.json")
            with open(path, encoding="utf-8") as file:
                pid = json.load(file)["holders"]["pc2"]["pid"]
            os.kill(pid, signal.SIGKILL)
            self.assertTrue(wait_until(lambda: not office.status()["pcs"][1]["alive"]))
            result = office.exec("pc2", "true")
            self.assertEqual(result.returncode, 1)
            self.assertIn("has died", result.stderr)
            office.up()
            self.assertEqual(office.exec("pc1", "ssh", "pc2", "hostname").stdout, "pc2\n")

    def test_another_description_of_a_running_office_is_refused(self):
        with Office() as office:
            with open(office.file, "a", encoding="utf-8") as file:
                file.write('[[pc]]\nname = "pc3"\n')
            result = office.run("up")
            self.assertEqual(result.returncode, 1)
            self.assertIn("description differs", result.stderr)


def all_processes():
    """All processes as (pid, start time)."""
    return processes_in(None)


def holders_of(name):
    """Ids of first processes of this office, found by their command lines."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if b"--hold" in words and any(word.endswith(b"/" + name.encode()) for word in words):
            found.append(int(pid))
    return found


class RecordedMachine(unittest.TestCase):
    def test_cut_and_plug_a_gpu(self):
        folder = tempfile.mkdtemp(prefix="egpu-machine-test-")
        self.addCleanup(shutil.rmtree, folder)
        make_machine(folder)
        with Office({"pc1": {"machine": folder}, "pc2": {}}) as office:
            seen = office.exec("pc1", "sh", "-c", "ls $EGPU_MACHINE/sys/bus/pci/devices").stdout
            self.assertEqual(len(seen.split()), 3)
            office.cut("pc1", "gpu1")
            seen = office.exec("pc1", "sh", "-c", "ls $EGPU_MACHINE/sys/bus/pci/devices").stdout
            self.assertEqual(seen.split(), ["0000:05:00.0"])
            text = office.exec("pc1", "sh", "-c", "cat $EGPU_MACHINE/nvml.json").stdout
            lost = json.loads(text)["devices"][1]
            self.assertEqual((lost["uuid"], lost["pcie"]), ("GPU-1", None))
            self.assertIn("GPU_IS_LOST", lost["errors"].values())
            self.assertEqual(office.status()["pcs"][0]["cut_gpus"], [1])
            office.plug("pc1", "gpu1")
            seen = office.exec("pc1", "sh", "-c", "ls $EGPU_MACHINE/sys/bus/pci/devices").stdout
            self.assertEqual(len(seen.split()), 3)
            self.assertEqual(office.run("cut", "pc1", "gpu2").returncode, 2)
            self.assertEqual(office.run("cut", "pc2", "gpu0").returncode, 2)
        self.assertTrue(os.path.isdir(os.path.join(folder, "sys/devices/pci/0000:2f:00.0")))


def make_machine(folder):
    """Two GPUs, the second with an audio function."""
    devices = os.path.join(folder, "sys/bus/pci/devices")
    os.makedirs(devices)
    for address in ("0000:05:00.0", "0000:2f:00.0", "0000:2f:00.1"):
        os.makedirs(os.path.join(folder, "sys/devices/pci", address))
        os.symlink(f"../../../devices/pci/{address}", os.path.join(devices, address))
    rows = [
        {"index": index, "uuid": f"GPU-{index}", "name": "card", "pci_bus_id": bus, "pcie": {"gen_max": 4}}
        for index, bus in enumerate(("00000000:05:00.0", "00000000:2F:00.0"))
    ]
    with open(os.path.join(folder, "nvml.json"), "w", encoding="utf-8") as file:
        json.dump({"init_error": None, "devices": rows}, file)


if __name__ == "__main__":
    unittest.main(verbosity=2)
