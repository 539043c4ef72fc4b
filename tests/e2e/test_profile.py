# SPDX-License-Identifier: Apache-2.0
"""`perfgate profile`, from the recorded program to tables, documents, a suite and a comparison: with the mocks
of driver and CUPTI instead of a GPU."""

import contextlib
import fcntl
import os
import pathlib
import pty
import shlex
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import time
import unittest

import tool

BUILD = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"])
PROGRAM = BUILD / "bin" / "mock_program"
MOCKS = {"LD_LIBRARY_PATH": str(BUILD / "tests" / "inject" / "mocks"), "MOCK_WORK_NS": "5000"}


def steps(count, *words, first=()):
    """A step of a training program, `count` times: what `words` say, in an NVTX range."""
    program = [*first]
    for _ in range(count):
        program += ["push", "training step", *words, "pop", "sleep", "1"]
    return program


ATTENTION = ("kernels", "4", "_Z16flash_fwd_kernelPf", "kernels", "2", "gemm")


# Between two kernels it waits until samples were taken, in functions of which one has a hostile name.
WAITING = """
import ctypes, os, time
cuda = ctypes.CDLL('libcuda.so.1'); cuda.cuInit(0)
def launch(): cuda.cuLaunchKernel(ctypes.c_char_p(b'gemm'), 8, 1, 1, 128, 1, 1, 0, None, None, None)
def looks():
    for task in os.listdir('/proc/self/task'):
        if open(f'/proc/self/task/{task}/comm').read() == 'perfgate stacks\\n':
            return int(open(f'/proc/self/task/{task}/schedstat').read().split()[2])
    return 100
def fetch():
    for _ in range(20):
        time.sleep(0.02)
def hostile():
    fetch()
hostile.__code__ = hostile.__code__.replace(co_name='</script><img src=x>', **(
    {'co_qualname': '</script><img src=x>'} if hasattr(hostile.__code__, 'co_qualname') else {}))
launch()
while looks() < 30:
    hostile()
hostile()
launch()
"""


@unittest.skipUnless(PROGRAM.exists(), "built without CUDA's headers: programs cannot be recorded")
class Profile(tool.Case):
    def profile(self, *options, program=steps(6, *ATTENTION), code=0):
        return self.run_tool("profile", *options, "--", PROGRAM, *program, env=MOCKS, code=code)

    def suite(self, **kwargs):
        self.profile("--report", "gate.yaml", **kwargs)
        return (self.folder / "gate.yaml").read_text()

    def test_the_document_has_what_the_tables_show(self):
        done = self.profile("--report", "profile.json")
        self.assertIn("flash_fwd_kernel(float*)", done.stdout)
        self.assertIn("training step", done.stdout)
        process, = self.read_json("profile.json")["processes"]
        self.assertEqual({"flash_fwd_kernel(float*)": 24, "gemm": 12},
                         {each["name"]: each["count"] for each in process["kernels"]})
        ranges, = process["ranges"]
        self.assertEqual(("training step", 6, 36, 36 * 5000),
                         (ranges["name"], ranges["count"], ranges["work"]["kernels"],
                          ranges["work"]["gpu_time_ns"]))
        self.assertEqual([6] * 6, [each["kernels"] for each in ranges["instances"]])

    def test_nothing_temporary_stays_behind_a_signal(self):
        # CI systems send a second one to what does not end at the first.
        stubborn = f"trap '' TERM; {shlex.quote(str(PROGRAM))} {shlex.join(ATTENTION)} sleep 600000"
        for words, signals in (([PROGRAM, *ATTENTION, "sleep", "600000"], [signal.SIGTERM]),
                               (["sh", "-c", stubborn], [signal.SIGTERM, signal.SIGTERM]),
                               (["sh", "-c", stubborn], [signal.SIGINT, signal.SIGTERM])):
            with self.subTest(signals=signals, words=words[0]):
                temporary = self.folder / "tmp"
                temporary.mkdir(exist_ok=True)
                running = subprocess.Popen(
                    [tool.PERFGATE, "profile", "--", *map(str, words)], stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, env={**os.environ, **MOCKS, "TMPDIR": str(temporary)})
                deadline = time.monotonic() + tool.PATIENCE_S
                while not list(temporary.glob("*/*.activity")) and time.monotonic() < deadline:
                    time.sleep(0.02)
                program, = temporary.glob("*/*.activity")
                pid = int(program.name.split("-")[0][1:])
                for each in signals:
                    running.send_signal(each)
                    time.sleep(0.1)  # two signals at once are one
                _, errors = running.communicate(timeout=tool.PATIENCE_S)
                self.assertEqual(130, running.returncode, errors)
                self.assertEqual([], list(temporary.iterdir()))
                self.assertFalse(pathlib.Path(f"/proc/{pid}").exists(), "the program still runs")

    def test_communication_is_told_from_what_hides_it(self):
        self.assertNotIn("communication ran", self.profile().stdout)
        done = self.profile(program=steps(4, "kernels", "2", "ncclDevKernel_AllReduce", "kernels", "1", "gemm"))
        self.assertIn("communication ran for 40.00 µs, 0.0 % of it while another kernel ran", done.stdout)

    def test_the_page_is_written_from_a_stored_recording_too(self):
        if "built without the HTML report" in self.profile("--report", "run.html", "--out", "recorded",
                                                           code=(0, 2)).stderr:
            self.assertFalse((self.folder / "recorded").exists(), "it is refused before the program runs")
            self.skipTest("built without the HTML report")
        page = (self.folder / "run.html").read_text()
        self.assertIn('"flash_fwd_kernel(float*)"', page)
        done = self.run_tool("profile", "--recording", "recorded", "--report", "html:-")
        self.assertEqual(page, done.stdout)

    def test_calls_that_a_graph_cannot_capture_are_listed_with_their_range(self):
        done = self.profile("--report", "profile.json", program=steps(3, *ATTENTION, "query", "query", "sync"))
        self.assertIn("calls that a CUDA graph cannot capture", done.stdout)
        self.assertRegex(done.stdout, r"6 +training step +asks whether the device is ready +cuEventQuery")
        process, = self.read_json("profile.json")["processes"]
        self.assertEqual([("cuEventQuery", 6, "training step"), ("cuCtxSynchronize", 3, "training step")],
                         [(each["name"], each["count"], each["range"]) for each in process["uncapturable"]])
        # Without API calls on record nothing is said, and without such calls there is no table.
        self.assertNotIn("cannot capture", self.profile("--level", "callbacks",
                                                        program=steps(3, *ATTENTION, "query")).stdout)
        self.assertNotIn("cannot capture", self.profile(program=steps(3, *ATTENTION)).stdout)

    # Before, between and after what is profiled the kernels have other names.
    PROFILED_TWICE = ("kernels", "2", "before", "push", "half", "start", *ATTENTION, "pop", *steps(2, *ATTENTION),
                      "stop", "kernels", "7", "between", "cudastart", *steps(1, *ATTENTION), "cudastop",
                      "kernels", "5", "after")

    def counts(self, *options, **kwargs):
        """Launches by kernel, and instances by range."""
        self.profile("--report", "part.json", *options, **kwargs)
        process, = self.read_json("part.json")["processes"]
        return ({each["name"]: each["count"] for each in process["kernels"]},
                {each["name"]: each["count"] for each in process["ranges"]})

    def test_only_what_the_program_profiles_is_reported(self):
        for level in ("callbacks", "api"):
            with self.subTest(level):
                kernels, ranges = self.counts("--capture", "profiler-api", "--level", level, program=self.PROFILED_TWICE)
                self.assertEqual({"flash_fwd_kernel(float*)": 16, "gemm": 8}, kernels)
                # The first range began before the profiler was started.
                self.assertEqual({"training step": 3}, ranges)
        # Without launches on record it is the time on the device that counts.
        kernels, _ = self.counts("--capture", "profiler-api", "--level", "records", program=[
            "kernels", "2", "before", "sleep", "20", "start", *ATTENTION, "sleep", "20", "stop", *ATTENTION])
        self.assertEqual({"flash_fwd_kernel(float*)": 4, "gemm": 2}, kernels)
        process, = self.read_json("part.json")["processes"]
        self.assertRegex(process["note"], "^The part that is reported has the work that the device began in it")

    def test_a_profiler_that_is_not_stopped_counts_to_the_end_with_a_note(self):
        done = self.profile("--capture", "profiler-api", "--report", "a.json",
                            program=["kernels", "2", "warm_up", "start", *ATTENTION])
        self.assertIn("The last cudaProfilerStart() has no cudaProfilerStop()", done.stdout)
        self.assertNotIn("warm_up", done.stdout.split("\n", 1)[1])
        process, = self.read_json("a.json")["processes"]
        self.assertEqual(6, process["program"]["kernels"])
        self.assertIn("no cudaProfilerStop()", process["note"])

    def test_launches_are_left_out_from_the_first_on(self):
        program = steps(3, *ATTENTION, "graph", "5", first=["kernels", "4", "before"])
        kernels, ranges = self.counts("--capture", "after-launches:11", program=program)  # one step: six, and the graph
        self.assertEqual(({"flash_fwd_kernel(float*)": 8, "gemm": 4, "graph_node": 10}, {"training step": 2}),
                         (kernels, ranges))
        kernels, ranges = self.counts("--capture", "after-launches:12", program=program)
        self.assertEqual(({"flash_fwd_kernel(float*)": 7, "gemm": 4, "graph_node": 10}, {"training step": 1}),
                         (kernels, ranges))
        kernels, _ = self.counts("--capture", "after-launches:2", "--capture", "profiler-api",
                                 program=["start", *ATTENTION, "stop", *ATTENTION])
        self.assertEqual({"flash_fwd_kernel(float*)": 2, "gemm": 2}, kernels)

    def test_a_part_that_there_is_not_is_no_empty_table(self):
        stopped = ("stop", *ATTENTION, "stop")
        for options, program, reason in (
                (["--capture", "profiler-api"], ATTENTION, "the program never called cudaProfilerStart()"),
                (["--capture", "profiler-api"], stopped, "the program never called cudaProfilerStart()"),
                (["--capture", "after-launches:6"], ATTENTION,
                 "the program made 6 kernel launches, which leaves none after the first 6"),
                (["--capture", "range:absent"], ATTENTION, "the program opened no NVTX range 'absent'"),
                (["--capture", "range:early", "--capture", "after-launches:6"],
                 ["push", "early", "pop", *ATTENTION, *ATTENTION], "nothing of the program is in its capture range"),
                (["--capture", "profiler-api", "--capture", "delay:100"], ["start", *ATTENTION, "stop"],
                 "--capture delay: and duration: leave nothing of the capture range"),
                (["--capture", "delay:100"], ATTENTION, "--capture delay: and duration: leave nothing of the program")):
            with self.subTest(reason):
                done = self.profile(*options, "--report", "none.json", program=program, code=3)
                self.assertIn(reason, done.stderr)
                self.assertEqual("", done.stdout)
                self.assertFalse((self.folder / "none.json").exists())
        # The program's own failure is said, too.
        done = self.profile("--capture", "profiler-api", program=[*ATTENTION, "crash"], code=3)
        self.assertIn("never called", done.stderr)
        self.assertIn("the program ended by signal 11", done.stderr)
        for wrong in ("0", "-1", "many"):
            with self.subTest(wrong):
                self.assertIn("--capture after-launches:", self.profile("--capture", f"after-launches:{wrong}", code=2).stderr)

    def test_a_process_outside_of_the_part_is_left_out_with_a_note(self):
        program = ["start", *ATTENTION, "stop", "forkexec", "kernels"]
        done = self.profile("--capture", "profiler-api", "--report", "a.json", "--out", "recorded", program=program)
        self.assertRegex(done.stderr, r"note: left out: process \d+: the program never called cudaProfilerStart")
        self.assertEqual(1, len(self.read_json("a.json")["processes"]))
        again = self.run_tool("profile", "--recording", "recorded", "--capture", "profiler-api")
        self.assertIn("left out: process", again.stderr)
        self.assertIn("flash_fwd_kernel", again.stdout)
        failed = self.run_tool("profile", "--recording", "recorded", "--capture", "range:absent", code=3)
        self.assertEqual(2, failed.stderr.count("opened no NVTX range"))

    def test_a_recording_of_an_older_perfgate_does_not_know_profiler_calls(self):
        recorded = tool.SOURCE / "tests" / "data" / "activity" / "cupy"
        self.run_tool("profile", "--recording", recorded, "--capture", "after-launches:1")
        done = self.run_tool("profile", "--recording", recorded, "--capture", "profiler-api", code=3)
        self.assertIn("the recording does not have the calls of cudaProfilerStart(): record it again", done.stderr)

    def on_a_terminal(self, *options):
        code, shown = tool.on_terminal(["profile", *options, "--", PROGRAM, *ATTENTION, "sleep", "2500"], self.folder, MOCKS)
        self.assertEqual(0, code)
        return shown

    def test_a_terminal_shows_how_far_the_recording_is(self):
        shown = self.on_a_terminal()
        self.assertRegex(shown, r"recorded 1 s, \d.*recorded 2 s, \d")
        self.assertNotIn("\n", shown)
        # The cursor is put back each time, and the corner is empty in the end.
        self.assertEqual(shown.count("\x1b7"), shown.count("\x1b8"))
        self.assertRegex(shown, r"\x1b\[K\x1b8$")
        self.assertEqual("", self.on_a_terminal("--quiet"))
        self.assertEqual("", self.profile(program=[*ATTENTION, "sleep", "1200"]).stderr)

    def test_tables_fit_the_terminal(self):
        name = "a_kernel_of_a_template_library_" * 5
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        for columns in (80, 200):
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
            process = subprocess.Popen(
                [tool.PERFGATE, "profile", "--quiet", "--", PROGRAM, *steps(2, "kernels", "4", name, "copy", "64")],
                cwd=self.folder, stdout=theirs, stderr=theirs, env={**os.environ, **MOCKS})
            self.assertEqual(0, process.wait(timeout=tool.PATIENCE_S))
            os.set_blocking(ours, False)
            shown = b""
            try:
                while chunk := os.read(ours, 65536):
                    shown += chunk
            except BlockingIOError:
                pass
            lines = [line.rstrip("\r") for line in shown.decode().split("\n")]
            begin = lines.index("kernels")
            for line in [lines[0], *lines[begin:begin + 12]]:
                self.assertLessEqual(len(line), columns, line)
            heads = lines[begin + 1].split()
            self.assertEqual(columns == 200, "block" in heads)
            self.assertEqual(["time", "share", "count", "median"], heads[:4])

    def test_two_profiles_are_compared_kernel_by_kernel(self):
        self.profile("--report", "before.json")
        self.profile("--report", "after.json",
                     program=steps(6, "kernels", "4", "softmax", "kernels", "3", "gemm", "copy", "64"))
        done = self.run_tool("compare", "--base", "before.json", "--head", "after.json")
        tables, changes = done.stdout.split("kernels that changed")
        rows = {line.split()[-1]: line for line in tables.splitlines() if line.strip()}
        self.assertRegex(rows["flash_fwd_kernel(float*)"], r"120.* → 0.*-100.0 %.*24 → 0 +replaced by softmax")
        self.assertRegex(rows["softmax"], r"new +0 → 24 +replaces flash_fwd_kernel")
        self.assertRegex(rows["gemm"], r"\+50.0 %.*12 → 18")
        self.assertRegex(rows["step"], r"30.* → 40.*\+33.3 %.*6 → 7 +0 → 1")
        self.assertIn("flash_fwd_kernel (4 per instance, 20.00 µs) replaced by softmax (4 per instance, 20.00 µs)",
                      changes)
        self.assertIn("called more often: gemm 2 → 3 per instance (10.00 µs → 15.00 µs)", changes)
        same = self.run_tool("compare", "--base", "before.json", "--head", "before.json").stdout
        self.assertNotIn("kernels\n", same.split("NVTX")[1])
        self.assertNotIn("kernels that changed", same)

    def test_compare_refuses_what_has_no_meaning_for_profiles(self):
        self.profile("--report", "a.json")
        two = ("--base", "a.json", "--head", "a.json")
        for words, reason in (((*two, "--report", "x.xml"), "--report has no meaning"),
                              ((*two, "--filter", "x"), "--filter has no meaning"),
                              ((*two, "--tolerance", "5%"), "--tolerance has no meaning"),
                              ((*two, "a.json"), "one profile each"),
                              (("--base", "a.json", "--head", "missing.json"), "missing.json"),
                              (("a.json", "a.json"), "--base FILE --head FILE"),
                              (("a.json",), "--base FILE --head FILE")):
            with self.subTest(words):
                self.assert_one_line(self.run_tool("compare", *words, code=2).stderr, reason)

    def test_damaged_profiles_are_refused_with_the_place(self):
        self.profile("--report", "a.json")
        text = (self.folder / "a.json").read_text()
        for old, new in (('"grid":[8,1,1]', '"grid":[8,1]'), ('"grid":[8,1,1]', '"grid":[8,1,-1]'),
                         ('"grid":[8,1,1]', '"grid":[8,1,4294967296]'), ('"version": 1', '"version": 2'),
                         ('"processes"', '"process"'), ('"total_ns"', '"total"'), ("  ]\n}", "")):
            with self.subTest(new):
                self.assertTrue(old in text, old)
                self.write("b.json", text.replace(old, new, 1))
                self.assertIn("b.json", self.run_tool("compare", "--base", "a.json", "--head", "b.json", code=2).stderr)

    def test_a_suite_is_drafted_that_holds(self):
        words = shlex.join(steps(6, *ATTENTION))
        script = self.write("train.sh", f"exec {PROGRAM} {words}\n")
        self.run_tool("profile", "--report", "gate.yaml", "--", "sh", script, env=MOCKS)
        text = (self.folder / "gate.yaml").read_text()
        self.assertRegex(text, r'training_step: \{nvtx: "training step"\}')
        self.assertRegex(text, r'flash_fwd_kernel: \{kernel: "\*flash_fwd_kernel\*"\}')
        for line in ("training_step.kernels: 0", "training_step.instances: 0", "program.kernels: 0",
                     "training_step.pageable_copies: == 0", "training_step.syncs: == 0"):
            self.assertIn(line, text.replace('"', ""))
        host = ["--backend", "host", "--processes", 3]
        self.run_tool("baseline", "refresh", "gate.yaml", *host, env=MOCKS)
        self.run_tool("run", "gate.yaml", *host, env=MOCKS)
        words = words.replace(" gemm ", " gemm kernels 1 other ", 1)
        self.write("train.sh", f"exec {PROGRAM} {words}\n")
        done = self.run_tool("run", "gate.yaml", *host, env=MOCKS, code=1)
        self.assertIn("kernels", done.stdout)

    def test_a_process_that_is_not_recorded_is_noted(self):
        for clear, noted in (("env -i", True), ("env", False)):
            words = f'{clear} LD_LIBRARY_PATH="$LD_LIBRARY_PATH" {PROGRAM} kernels 3 gemm sleep 2000'
            script = self.write("train.sh", f"{words}\n{PROGRAM} kernels 3 gemm\n")
            done = self.run_tool("profile", "--", "sh", script, env=MOCKS)
            self.assertEqual(noted, "left no recording" in done.stdout + done.stderr, done)

    def test_a_draft_tells_the_sizes_of_a_kernel_apart(self):
        text = self.suite(program=steps(4, "kernels", "9", "gemm", "grid", "64", "kernels", "5", "gemm", "grid", "8"))
        self.assertIn('gemm: {kernel: "*gemm*", grid: [8, 1, 1], block: [128, 1, 1]}', text)
        self.assertIn('gemm_2: {kernel: "*gemm*", grid: [64, 1, 1], block: [128, 1, 1]}', text)
        self.run_tool("run", "gate.yaml", "--backend", "host", "--processes", 2, env=MOCKS)

    def test_a_draft_leaves_out_what_it_cannot_gate(self):
        text = self.suite(program=steps(4, *ATTENTION, "copy", "64", "sync",
                                        first=["push", "idle", "pop", *steps(1, "kernels", "9", "gemm")]))
        self.assertNotIn("idle", text.split("measure:")[1])
        self.assertRegex(text, r"training_step: \{.*skip: 1\}")
        self.assertNotIn("syncs", text)

    def test_a_draft_is_named_after_the_script(self):
        script = self.write("2_steps.sh", f"exec {PROGRAM} {' '.join(ATTENTION)}\n")
        self.run_tool("profile", "--report", "gate.yaml", "--", "sh", script, "0.5", env=MOCKS)
        self.assertIn("name: n2_steps\n", (self.folder / "gate.yaml").read_text())
        self.run_tool("validate", "gate.yaml")

    def test_what_two_recordings_do_not_both_have_is_not_compared(self):
        self.profile("--report", "calls.json", program=steps(4, *ATTENTION, "sync"))
        self.profile("--level", "callbacks", "--report", "none.json", program=steps(2, *ATTENTION, "sync"))
        done = self.run_tool("compare", "--base", "calls.json", "--head", "none.json")
        row, = [line for line in done.stdout.splitlines() if line.endswith("training step")]
        self.assertRegex(row, r"^ *4 → 2 .* - +training step$")
        self.profile("--report", "cut.json", program=[*steps(2, *ATTENTION), "crash"], code=3)
        self.assertIn("the recording after is not complete",
                      self.run_tool("compare", "--base", "calls.json", "--head", "cut.json").stdout)

    def test_where_the_suite_is_is_not_where_the_program_runs(self):
        self.profile("--report", "suites/gate.yaml")
        self.assertIn('cwd: ".."', (self.folder / "suites/gate.yaml").read_text())
        self.run_tool("validate", "suites/gate.yaml")

    def test_a_draft_is_refused_with_a_reason(self):
        self.write("there.yaml", "mine")
        for options, program, reason in (
                (["--report", "there.yaml"], steps(1, *ATTENTION), "there.yaml exists"),
                (["--report", "new.yaml"], ["push", "{word}", *ATTENTION, "pop"], "{word}"),
                (["--report", "new.yaml"], ["push", "step", "copy", "64", "pop"], "no kernel")):
            with self.subTest(reason):
                self.assertIn(reason, self.profile(*options, program=program, code=2).stderr)
        self.assertEqual("mine", (self.folder / "there.yaml").read_text())
        for part in (["--capture", "delay:0.1"], ["--capture", "duration:1"], ["--capture", "range:training step"], ["--own-thread"],
                     ["--capture", "profiler-api"], ["--capture", "after-launches:3"],
                     ["--level", "records"]):
            with self.subTest(part):
                self.assertIn("needs the whole recording",
                              self.profile("--report", "new.yaml", *part, code=2).stderr)
        for words, reason in ((["x"] * 1001, "1000 words"), (["x" * 4097], "4096 bytes")):
            with self.subTest(reason):
                program = [*steps(1, *ATTENTION), "push", "last", *words]
                self.assertIn(reason, self.profile("--report", "new.yaml", program=program, code=2).stderr)
        failed = self.profile("--report", "new.yaml", program=[*steps(1, *ATTENTION), "crash"], code=3)
        self.assertIn("new.yaml was not written", failed.stderr)
        self.assertFalse((self.folder / "new.yaml").exists())
        self.profile("--out", "recorded")
        self.assertIn("record it again", self.run_tool(
            "profile", "--recording", "recorded", "--report", "new.yaml", code=2).stderr)

    def test_what_the_host_did_while_the_gpu_was_idle_is_named_in_each_report(self):
        script = self.folder / "train.py"
        script.write_text(WAITING)
        done = self.run_tool("profile", *(f"--report={report}" for report in ("run.json", "run.html", "run.sqlite", "trace:run.trace")),
                             "--", sys.executable, "-S", script, env=MOCKS)
        self.assertRegex(done.stdout, r"the host was \d+ % in fetch \(train\.py:\d+\)")
        self.assertRegex(done.stdout, r"Stacks of the host were sampled \d+ times a second, which took [\d.]+ % of a processor")
        process, = self.read_json("run.json")["processes"]
        self.assertEqual("fetch", process["host"][0]["name"])
        self.assertEqual("fetch", process["gaps"][0]["host"])
        with contextlib.closing(sqlite3.connect(self.folder / "run.sqlite")) as database:
            stacks = {row[0] for row in database.execute("SELECT stack FROM host_stacks WHERE duration_ns > 0")}
        self.assertTrue([stack for stack in stacks if stack and stack.startswith("<module>;</script><img src=x>;fetch")], stacks)
        events = self.read_json("run.trace")["traceEvents"]
        self.assertTrue([event for event in events if event.get("cat") == "host" and ";fetch" in event["args"]["stack"]])
        self.assertNotIn("</script><img", (self.folder / "run.html").read_text())
        self.assertIn('"flame"', (self.folder / "run.html").read_text())
        # Recording costs least without samples.
        self.run_tool("profile", "--level", "records", "--report=bare.json", "--", sys.executable, "-S", script, env=MOCKS)
        process, = self.read_json("bare.json")["processes"]
        self.assertNotIn("host", process)

    def test_hostile_names_stay_text(self):
        name = 'a"]}: \u202e\n- *b'
        text = self.suite(program=["push", name, *ATTENTION, "pop", "kernels", "60", "k\"'{}:#[x"])
        self.run_tool("validate", "gate.yaml")
        self.assertNotIn("\u202e", text)
        listed = self.run_tool("list", "gate.yaml", "--backend", "host").stdout
        self.assertNotIn("\u202e", listed)


if __name__ == "__main__":
    unittest.main()
