# SPDX-License-Identifier: Apache-2.0
"""The fault campaign on the host backend."""

from campaign import Campaign
import tool


class HostIsolation(Campaign):
    backend = "host"
    time_metric = metrics = "host_time"

    def test_the_children_of_a_hanging_plugin_end_with_it(self):
        self.suite("hang_with_child", self.fine)
        cases = self.run_cases("--processes", 1, "--time-limit", 10, code=3)
        self.assertIn("no answer within 10 s", cases[("hang_with_child", 0)]["reason"])
        self.assertEqual("measured", cases[(self.fine, 0)]["status"])
        self.assert_nothing_is_left()


del Campaign  # a base, no test

if __name__ == "__main__":
    tool.main()
