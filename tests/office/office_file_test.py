"""Errors of office files and of the commands, none of which starts anything."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from office import SOURCE, virtual_office  # noqa: E402

# (what is wrong, office file, words that the error must have)
WRONG_FILES = [
    ("not TOML", 'name = "a\n', ["line 1"]),
    ("empty", "", ["key 'name'", "nothing"]),
    ("no PCs", 'name = "a"\n', ["key 'pc'", "[[pc]]"]),
    ("PCs as a table", 'name = "a"\n[pc]\nname = "pc1"\n', ["key 'pc'"]),
    ("PCs as texts", 'name = "a"\npc = ["pc1"]\n', ["key 'pc[1].'"]),
    ("office name", 'name = "../a"\n[[pc]]\nname = "pc1"\n', ["key 'name'", "../a"]),
    ("PC name", 'name = "a"\n[[pc]]\nname = "PC 1"\n', ["key 'pc[1].name'"]),
    ("PC name as number", 'name = "a"\n[[pc]]\nname = 1\n', ["key 'pc[1].name'"]),
    ("two PCs of one name", 'name = "a"\n[[pc]]\nname = "b"\n[[pc]]\nname = "b"\n', ["pc[2].name", "taken"]),
    ("unknown key", 'name = "a"\nnetwork_gb = 1\n[[pc]]\nname = "b"\n', ["network_gb'", "write 'network_gbit'"]),
    ("unknown key of a PC", 'name = "a"\n[[pc]]\nname = "b"\nmachin = "x"\n', ["pc[1].machin'", "'machine'"]),
    ("rate 0", 'name = "a"\n[[pc]]\nname = "b"\nnetwork_gbit = 0\n', ["network_gbit", "0.001 to 100"]),
    ("rate nan", 'name = "a"\nnetwork_gbit = nan\n[[pc]]\nname = "b"\n', ["network_gbit", "nan"]),
    ("rate as text", 'name = "a"\nnetwork_gbit = "1"\n[[pc]]\nname = "b"\n', ["network_gbit", "number"]),
    ("rate true", 'name = "a"\nnetwork_gbit = true\n[[pc]]\nname = "b"\n', ["network_gbit", "number"]),
    ("shared as number", 'name = "a"\nhost_link_shared = 1\n[[pc]]\nname = "b"\n', ["host_link_shared", "true or false"]),
    ("no such machine", 'name = "a"\n[[pc]]\nname = "b"\nmachine = "gone"\n', ["pc[1].machine", "nvml.json"]),
]


class OfficeFile(unittest.TestCase):
    def up(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "office.toml")
            with open(path, "wb") as file:
                file.write(text.encode() if isinstance(text, str) else text)
            return virtual_office("up", path)

    def assert_three_parts(self, result, status, words):
        self.assertEqual(result.returncode, status, result.stderr)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 3, result.stderr)
        self.assertTrue(lines[0].startswith("virtual_office: "))
        self.assertTrue(lines[1].startswith("  found: "))
        self.assertTrue(lines[2].startswith("  to do: "))
        for word in words:
            self.assertIn(word, result.stderr)

    def test_wrong_files(self):
        for what, text, words in WRONG_FILES:
            with self.subTest(what):
                self.assert_three_parts(self.up(text), 2, ["office.toml", *words])

    def test_bytes_that_are_no_text(self):
        self.assert_three_parts(self.up(b"\xff\xfe\x00"), 2, ["office.toml"])

    def test_too_many_pcs(self):
        rows = "".join(f'[[pc]]\nname = "pc{number}"\n' for number in range(65))
        self.assert_three_parts(self.up('name = "a"\n' + rows), 2, ["65 PCs"])

    def test_file_that_is_not_there(self):
        result = virtual_office("up", "/nowhere/office.toml")
        self.assert_three_parts(result, 2, ["/nowhere/office.toml", "No such file"])

    def test_commands_on_an_office_that_is_not_up(self):
        for command in (["exec", "none", "pc1", "--", "true"], ["ssh", "none", "pc1"],
                        ["cut", "none", "pc1"], ["shape", "none", "pc1", "1"]):
            with self.subTest(command=command):
                self.assert_three_parts(virtual_office(*command), 1, ["not up"])

    def test_wrong_commands(self):
        for command in (["fly"], ["up"], ["up", "a.toml", "b.toml"], ["exec", "none", "pc1"],
                        ["down", "../x"], ["shape", "none", "pc1", "fast"], ["cut", "none"]):
            with self.subTest(command=command):
                self.assert_three_parts(virtual_office(*command), 2, [])

    def test_help_names_every_command(self):
        text = virtual_office("--help").stdout
        for command in ("up", "down", "status", "exec", "ssh", "cut", "plug", "shape"):
            self.assertIn(f"\n  {command} ", text)

    def test_examples_are_valid(self):
        program = "import sys; from office.description import read_office; read_office(sys.argv[1])"
        folder = os.path.join(SOURCE, "scripts", "offices")
        for name in sorted(os.listdir(folder)):
            with self.subTest(name):
                subprocess.run(
                    [sys.executable, "-c", program, os.path.join(folder, name)],
                    cwd=os.path.join(SOURCE, "scripts"),
                    check=True,
                )


if __name__ == "__main__":
    unittest.main(verbosity=2)
