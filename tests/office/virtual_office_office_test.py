"""Inside a virtual office: identities, ssh, mpirun, commands, rates, cables."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from office import (  # noqa: E402
    SOURCE,
    VIRTUAL_OFFICE,
    Office,
    skip_reason,
    wait_until,
)

RATE_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rate.py")


def setUpModule():
    if reason := skip_reason():
        raise unittest.SkipTest(reason)


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


if __name__ == "__main__":
    unittest.main(verbosity=2)
