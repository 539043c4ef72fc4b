# SPDX-License-Identifier: Apache-2.0
"""What standard error says of a run on its way: to a log, to a terminal, and with --quiet."""

import tool

SUITE = """name: small
defaults:
  metrics: [host_time]
  tolerances: {host_time: 80%}
  time_budget: 20ms
  cache: hot
workloads:
  - workload: gemm
    variants: [reference]
    matrix: {m: [16, 17]}
    params: {dtype: f32, n: 16, k: 16}
"""


class Progress(tool.Case):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", SUITE)
        self.command = ["run", "small.yaml", "--backend", "host", "--processes", "2"]

    def test_a_log_gets_few_lines_and_no_control_characters(self):
        lines = self.run_tool(*self.command).stderr.splitlines()
        self.assertEqual("[1/4] small: gemm", lines[0])
        self.assertEqual(len(lines), len(set(lines)))
        self.assertNotIn("\x1b", "".join(lines))

    def test_quiet_is_quiet(self):
        self.assertEqual("", self.run_tool(*self.command, "--quiet").stderr)

    def test_a_terminal_has_one_line_that_is_gone_in_the_end(self):
        code, text = tool.on_terminal(self.command, self.folder)
        self.assertEqual(0, code)
        self.assertNotIn("\n", text)
        self.assertIn("\r\x1b[K[1/4] ", text)
        self.assertIn("gemm/reference[", text)
        self.assertRegex(text, r"\[4/4\] .* left")
        self.assertTrue(text.endswith("\r\x1b[K"))


if __name__ == "__main__":
    tool.main()
