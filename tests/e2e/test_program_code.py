# SPDX-License-Identifier: Apache-2.0
"""Which instructions of a program's kernels changed, and at which line its time went: with the mocks of driver and CUPTI instead of a
GPU, and a script in place of nvdisasm."""

import os
import pathlib
import shutil
import unittest

import tool

BUILD = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"])
PROGRAM = BUILD / "bin/mock_program"
CUBINS = BUILD / "tests/cubins"

SUITE = f"""
name: training
workloads:
  - command: [./app]
    name: train
    env: {{LD_LIBRARY_PATH: "{BUILD}/tests/inject/mocks"}}
    measure: {{k: {{kernel: scale}}, all: {{kernel: "*"}}}}
    tolerances: {{k.gpu_time: 3%}}
"""

# The mock samples each launch ten times at the second instruction.
NVDISASM = """#!/bin/sh
for cubin; do :; done
if cmp -s "$cubin" "{base}"; then load=LDG.E.128; else load=LDG.E; fi
printf '\\t.section\\t.text.scale,"ax",@progbits\\n'
printf '\\t//## File "{folder}/app.cu", line 7\\n'
printf '        /*0000*/                   LDC R1, c[0x0][0x28] ;\\n'
printf '\\t//## File "{folder}/app.cu", line 9\\n'
printf '        /*0010*/                   %s R0, desc[UR4][R2.64] ;\\n' $load
printf '        /*0020*/                   FFMA R3, R0, R0, R3 ;\\n'
printf '        /*0030*/                   EXIT ;\\n'
"""


@unittest.skipUnless(PROGRAM.exists() and (CUBINS / "base.cubin").exists(), "built without CUDA")
class ProgramCode(tool.Case):
    def setUp(self):
        super().setUp()
        self.write("suite.yaml", SUITE)
        # Modules that are longer to launch have other code; 1.5 times as many samples are of it.
        for side, cubin, work_ns, launches in (("base", "base", 5000, 100), ("head", "changed", 9000, 150)):
            self.script(f"{side}/app", f"""#!/bin/sh
export MOCK_WORK_NS={work_ns}
[ -z "$PERFGATE_RECORD_FUNCTIONS" ] && launches=100 || launches={launches}
exec "{PROGRAM}" newcontext module "{CUBINS}/{cubin}.cubin" kernels $launches scale
""")
        self.script("cuda/bin/nvdisasm", NVDISASM.format(base=CUBINS / "base.cubin", folder=self.folder))

    def ab(self, code=1, **env):
        return self.run_tool("ab", "suite.yaml", "--backend", "host", "--processes", 8, "--base", f"dir:{self.folder}/base", "--head",
                             f"dir:{self.folder}/head", "--verbose", "--report", "annotations:annotations", code=code,
                             env={"CUDA_HOME": str(self.folder / "cuda"), **env})

    def test_the_line_that_got_slower_is_named_with_its_instructions(self):
        done = self.ab()
        self.assertIn("machine code: LDG.E 0 → 1 at app.cu:9, LDG.E.128 1 → 0", done.stdout)
        self.assertIn("100 % of the added samples are at app.cu:9, waiting for memory", done.stdout)
        code = self.read_json("perfgate-out/code.json")
        for side, samples in (("base", 2000), ("cases", 3000)):
            (case,) = code[side]
            self.assertEqual("train/k", case["case"])
            (kernel,) = case["kernels"]
            self.assertEqual(2, kernel["launches"], "processes")
            load = kernel["instructions"][1]
            self.assertEqual({"long_scoreboard": 7 * samples // 10, "selected": 3 * samples // 10}, load["samples"])
            self.assertEqual(samples // 2, load["of_half"])
            self.assertNotIn("executed", load)
        (found,) = [case["machine_code"] for case in self.read_json("perfgate-out/run.json")["suites"][0]["cases"] if "machine_code" in case]
        self.assertEqual({"file": "app.cu", "line": 9}, found["place"])
        self.assertRegex((self.folder / "annotations").read_text(), r"(?m)^::error file=app\.cu,line=9,")

    def test_without_samples_the_instructions_are_compared_and_it_is_said(self):
        done = self.ab(MOCK_PC_ERROR="35")
        self.assertIn("machine code: LDG.E 0 → 1 at app.cu:9", done.stdout)
        self.assertIn("not sampled: no program counters were sampled", done.stdout)

    def test_without_a_disassembler_it_is_said_and_the_verdict_stands(self):
        shutil.rmtree(self.folder / "cuda")
        self.script("cuda/bin/nvdisasm", "#!/bin/sh\necho broken >&2\nexit 3\n")
        self.assertRegex(self.ab().stdout, r"not known: nvdisasm .*broken")

    def test_a_program_that_fails_when_it_is_sampled_changes_no_verdict(self):
        app = self.folder / "head/app"
        app.write_text(app.read_text().replace("export", '[ -n "$PERFGATE_RECORD_FUNCTIONS" ] && exit 3\nexport'))
        self.assertIn("not known: the program (machine code) exited with 3", self.ab().stdout)
        self.assertEqual(["regressed"], [case["verdict"] for case in self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"]
                                         if case["id"].endswith("/k")])


if __name__ == "__main__":
    tool.main()
