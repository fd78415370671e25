"""A PC's recorded machine: its copy loses and regains an eGPU."""
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from office import Office, skip_reason  # noqa: E402


def setUpModule():
    if reason := skip_reason():
        raise unittest.SkipTest(reason)


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


if __name__ == "__main__":
    unittest.main(verbosity=2)
