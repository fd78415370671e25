"""Nothing of a virtual office remains: after down, an interruption, a crash."""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from office import (  # noqa: E402
    VIRTUAL_OFFICE,
    Office,
    processes_in,
    skip_reason,
    virtual_office,
    wait_until,
)

LEFT_ALONE = "setsid -f sleep {} </dev/null >/dev/null 2>&1"


def setUpModule():
    if reason := skip_reason():
        raise unittest.SkipTest(reason)


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
        self.addCleanup(office.close)
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
