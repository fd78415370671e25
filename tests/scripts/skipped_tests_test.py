"""scripts/skipped_tests on logs as ctest writes them."""
import os
import subprocess
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

LOG = """\
1/3 Testing: topology.units_test
Output:
----------------------------------------------------------
[ RUN      ] Nvml.Real
tests/topology/units_test.cpp:12: Skipped
no NVIDIA driver on this PC

[  SKIPPED ] Nvml.Real (0 ms)
2/3 Testing: office.a_test
Output:
test_x (__main__.A.test_x) ... skipped 'not root'
test_y (__main__.A.test_y)
What y is about. ... skipped 'no mpirun'
OK (skipped=2)
3/3 Testing: jobs.b_test
Output:
test_z (__main__.A.test_z) ... ok
"""


def skipped_tests(text):
    with tempfile.NamedTemporaryFile("w", suffix=".log") as file:
        file.write(text)
        file.flush()
        program = os.path.join(SOURCE, "scripts", "skipped_tests")
        return subprocess.run([program, file.name], capture_output=True, text=True)


class SkippedTests(unittest.TestCase):
    def test_lists_program_test_and_reason(self):
        result = skipped_tests(LOG)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(
            result.stdout.strip().splitlines(),
            [
                "Skipped tests: 3",
                "  topology.units_test: Nvml.Real: no NVIDIA driver on this PC",
                "  office.a_test: test_x: not root",
                "  office.a_test: test_y: no mpirun",
            ],
        )

    def test_says_when_nothing_was_skipped(self):
        result = skipped_tests("1/1 Testing: a\nOK\n")
        self.assertEqual((result.returncode, result.stdout.strip()), (0, "Skipped tests: none"))

    def test_a_skip_without_reason_is_a_failure(self):
        result = skipped_tests("1/1 Testing: a\nOutput:\nOK (skipped=2)\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn("2 test(s): NO REASON PRINTED", result.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
