# SPDX-License-Identifier: Apache-2.0
"""A suite with real programs on a GPU: gate_programs.py [PART...].

Refreshes a baseline, runs unchanged, and then runs the program with a regression in it, which must be
found and named. Environment as for profile_programs.py. Parts: unchanged, edits, ab, graphs.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import profile_programs as tools

SUITE = """
name: training
workloads:
  - command: ["{python}", training_step.py, --steps, 5]
    name: train
    warmup: 1
    measure:
      step: {{nvtx: step, skip: 10}}
      backward: {{nvtx: backward, skip: 10}}
      flash: {{kernel: "*flash*", within: step, skip: 10}}
    tolerances:
      step.gpu_time: 2%
      step.kernels: 0
      step.idle_share: 10pt
      backward.gpu_time: 2%
      flash.gpu_time: 3%
      program.wall_time: 30%
    expect:
      step.syncs: "== 0"
      step.pageable_copies: "== 0"
"""

GRAPHS = """
name: graphs
workloads:
  - command: ["{program}"]
    name: graphs
    measure:
      streams: {{nvtx: streams}}
      graph: {{nvtx: graph}}
      copies: {{nvtx: copies}}
    tolerances: {{streams.gpu_time: 5%, graph.gpu_time: 5%, graph.kernels: 0, copies.gpu_time: 20%}}
    expect: {{graph.graph_launches: ">= 1", copies.pageable_copies: ">= 1"}}
"""

# What is changed in the program, and what the reports must name.
EDITS = {
    "flash attention off": ("import common\n", "import common\n"
                            "torch.backends.cuda.enable_flash_sdp(False)\n"
                            "torch.backends.cuda.enable_cudnn_sdp(False)\n", "step.*gpu_time"),
    "unfused optimiser": ("fused=True", "fused=False, foreach=False", "kernels"),
    "synchronisation": ("    loss.backward()\n", "    loss.item()\n    loss.backward()\n", "syncs"),
    "pageable copies": ("    optimiser.step()\n",
                        "    optimiser.step()\n    torch.empty(1 << 20).cuda()\n",
                        "pageable_copies"),
}


class Folder:
    def __init__(self, path, suite):
        self.path = path
        for name in ("training_step.py", "common.py"):
            shutil.copy(tools.HERE / "programs" / name, path)
        (path / "suite.yaml").write_text(suite)

    def edit(self, old, new):
        file = self.path / "training_step.py"
        text = file.read_text()
        tools.expect(old in text, f"the program has {old!r}")
        file.write_text(text.replace(old, new))

    def tool(self, *words, codes=(0,)):
        stored = [] if words[0] == "ab" else ["--baselines", self.path / "baselines"]
        done = tools.run([tools.PERFGATE, *words, *stored, "--out", self.path / "out"], codes,
                         timeout=900)
        tools.say(done.stdout[-3000:])
        return done


def fresh(suite):
    return Folder(pathlib.Path(tempfile.mkdtemp(prefix="perfgate-gate-")), suite)


def training():
    return fresh(SUITE.format(python=sys.executable))


def refreshed(folder):
    folder.tool("baseline", "refresh", folder.path / "suite.yaml", "--processes", 8)
    return folder


def part_unchanged():
    folder = refreshed(training())
    for number in range(3):
        folder.tool("run", folder.path / "suite.yaml")
        tools.expect(True, f"unchanged run {number + 1} passes")


def part_edits():
    folder = refreshed(training())
    original = (folder.path / "training_step.py").read_text()
    for name, (old, new, named) in EDITS.items():
        (folder.path / "training_step.py").write_text(original)
        folder.edit(old, new)
        done = folder.tool("run", folder.path / "suite.yaml", codes=(1, 3))
        tools.expect(named.split(".*")[-1] in done.stdout, f"{name}: {named} is named")


def part_ab():
    base, head = training(), training()
    words = ("ab", head.path / "suite.yaml", "--base-root", base.path, "--head-root", head.path)
    head.tool(*words)
    tools.expect(True, "two equal checkouts pass")
    head.edit(*EDITS["flash attention off"][:2])
    head.tool(*words, codes=(1, 3))
    tools.expect(True, "flash attention switched off is found")


def part_graphs():
    folder = refreshed(fresh(GRAPHS.format(program=tools.PROGRAMS / "streams_and_graphs")))
    folder.tool("run", folder.path / "suite.yaml")
    tools.expect(True, "graphs, streams and copies pass")


def main():
    parts = {name[5:]: part for name, part in globals().items() if name.startswith("part_")}
    if subprocess.run([sys.executable, "-c", "import torch; torch.zeros(1).cuda()"],
                      capture_output=True).returncode != 0:
        tools.say("no torch with a GPU: nothing is tested")
        return 77
    for name in sys.argv[1:] or parts:
        tools.say(f"== {name}")
        try:
            parts[name]()
        except tools.Failure as failure:
            tools.say(f"== {name} FAILED: {failure}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
