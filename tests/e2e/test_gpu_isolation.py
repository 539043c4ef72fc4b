# SPDX-License-Identifier: Apache-2.0
"""The fault campaign on a GPU, and the faults that only a GPU has."""

import os
import subprocess
import sys
import unittest

from campaign import Campaign


class GpuIsolation(Campaign):
    backend = "cuda"
    time_metric = "gpu_time"
    metrics = "gpu_time, registers"
    fine, late, hang = "fine", "late", "endless"
    kills = 200
    pace = 4.0

    def tearDown(self):
        self.assert_nothing_is_left()

    def test_faults_cost_their_own_case_only(self):
        faults = {"illegal_address": "CUDA_ERROR_ILLEGAL_ADDRESS",
                  "device_assert": "CUDA_ERROR_ASSERT",
                  "endless": "no answer within 5 s",
                  "out_of_memory": "out of memory"}
        self.suite(*faults, "wrong_on_device", "fine", items=[0, 1])
        cases = self.run_cases("--processes", 2, "--time-limit", 5, code=1)
        for (variant, _), case in cases.items():
            if variant == "fine":
                self.assertEqual("measured", case["status"])
                self.assertEqual(2, len(self.batches(case)))
            elif variant == "wrong_on_device":
                self.assertEqual("incorrect", case["status"], case.get("reason"))
            else:
                self.assertEqual("error", case["status"])
                self.assertIn(faults[variant], case["reason"])

    def test_without_permission_for_counters_the_rest_is_measured(self):
        self.env["LD_PRELOAD"] = f"{os.environ['PERFGATE_BUILD_DIR']}/tests/gpu/refuse_counters.so"
        self.metrics = "gpu_time, instructions"
        self.suite("fine", items=[0, 1])
        for case in self.run_cases("--processes", 2, code=3).values():
            self.assertEqual("measured", case["status"])
            self.assertEqual(2, len(self.batches(case)))
            missing, = case["not_collected"]
            self.assertEqual("instructions", missing["metric"])
            self.assertIn("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", missing["reason"])
        doctor = self.run_tool("doctor", code=3, env=self.env).stdout
        self.assertRegex(doctor, "problem +counter permission .*only administrators")

    def test_the_board_is_read_around_each_batch(self):
        self.suite("fine")
        case = self.run_cases("--processes", 2)[("fine", 0)]
        self.assertEqual([0, 1], [reading["process"] for reading in case["readings"]])
        for reading, batch in zip(case["readings"], self.batches(case)):
            self.assertGreater(reading["state"]["temperature_c"], 0)
            self.assertGreater(batch["sm_clock_mhz"], 0)

    def test_two_devices_measure_what_one_does(self):
        count = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
        if len(count.stdout.splitlines()) < 2 or "CUDA_VISIBLE_DEVICES" in os.environ:
            self.skipTest("one GPU alone, or others hidden")
        self.suite("fine", items=range(8))
        cases = self.run_cases("--devices", "all", "--processes", 2)
        devices = set()
        for case in cases.values():
            self.assertEqual("measured", case["status"])
            of_case = {batch["device"] for batch in self.batches(case)}
            self.assertEqual(1, len(of_case))
            devices |= of_case
        self.assertGreater(len(devices), 1)

    def test_devices_that_are_not_there_are_named(self):
        self.suite("fine")
        done = self.run_tool(*self.words("--devices", "0,99"), code=2)
        self.assert_one_line(done.stderr, "99: no such device")
        done = self.run_tool(*self.words("--devices", "0,0"), code=2)
        self.assert_one_line(done.stderr, "twice")


del Campaign  # a base, no test

if __name__ == "__main__":
    if not os.path.exists("/dev/nvidiactl") and not os.path.exists("/dev/dxg"):
        print("skipped: no NVIDIA GPU on this machine (/dev/nvidiactl is absent)")
        sys.exit(77)
    unittest.main(verbosity=2)
