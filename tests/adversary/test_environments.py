# SPDX-License-Identifier: Apache-2.0
"""Hostile surroundings: what a verb ends with does not depend on home, locale, environment, limits or
standard input, and where it cannot write, it says so and fails."""

import json
import os
import resource
import shutil
import subprocess

import adversary  # noqa: F401  finds what the end-to-end tests share
import tool

SUITE = """name: small
defaults:
  metrics: [host_time]
  tolerances: {host_time: {worse: 3000%, better: 97%}}
  time_budget: 5ms
  cache: hot
workloads:
  - workload: gemm
    variants: [reference]
    params: {dtype: f32, n: 16, k: 16}
    matrix: {m: [16, 17]}
"""


class Environments(tool.Case):
    # A busy machine may interrupt two of the three launches that a small budget takes.
    clock = "stated"

    def setUp(self):
        super().setUp()
        self.write("suite.yaml", SUITE)
        self.run_tool("run", "suite.yaml", *self.HOST, "--out", "out")
        self.run_tool("baseline", "refresh", "out/run.json", "--baselines", "store")
        shutil.copytree(self.folder / "store", self.folder / "fast")
        [path] = (self.folder / "fast").rglob("small.json")
        document = json.loads(path.read_text())
        for case in document["cases"].values():
            series = case["metrics"]["host_time"]
            series["value"] /= 1000
            for batch in series["batches"]:
                batch["samples"] = [sample / 1000 for sample in batch["samples"]]
        path.write_text(json.dumps(document))

    def shard(self):
        self.run_tool("run", "suite.yaml", *self.HOST, "--shard", "1/1", "--out", "shard")
        return self.folder / "shard/run.json"

    HOST = ("--backend", "host", "--processes", "1", "--quiet")

    def verbs(self):
        """Calls with absolute paths, and what each ends with."""
        at = self.folder
        run, out = at / "out/run.json", at / "again"
        yield 0, ["compare", run, "--baselines", at / "store", "--out", out]
        yield 1, ["compare", run, "--baselines", at / "fast", "--out", out]
        yield 0, ["baseline", "verify", "--baselines", at / "store"]
        yield 0, ["report", run, "--why", "--baselines", at / "store"]
        yield 0, ["validate", at / "suite.yaml"]
        yield 0, ["list", at / "suite.yaml"]
        yield 0, ["run", at / "suite.yaml", *self.HOST, "--out", out, "--baselines", at / "store"]
        yield 2, ["compare", at / "nothing.json", "--baselines", at / "store", "--out", out]

    def everywhere(self, **surroundings):
        for code, words in self.verbs():
            with self.subTest(" ".join(map(str, words))):
                self.call(words, code, **surroundings)

    def call(self, words, code, environment=None, **kwargs):
        done = subprocess.run([tool.PERFGATE, *map(str, words)], capture_output=True,
                              timeout=tool.PATIENCE_S, env=environment,
                              **{"cwd": self.folder, "stdin": subprocess.DEVNULL, **kwargs})
        self.assertEqual(code, done.returncode, done.stderr[:2000])
        return done

    def changed(self, **variables):
        return {**os.environ, **variables}

    def test_without_a_home_a_path_or_any_variable(self):
        self.everywhere(environment=tool.with_clock(self.clock))
        self.everywhere(environment=self.changed(HOME="/nowhere", XDG_CACHE_HOME="\x01",
                                                 TMPDIR="/nowhere", PWD="/elsewhere"))

    def test_in_a_folder_that_takes_no_file_or_is_gone(self):
        self.everywhere(cwd="/proc")
        gone = self.folder / "gone"
        for code, words in self.verbs():
            gone.mkdir(exist_ok=True)
            self.call(words, code, cwd=gone, preexec_fn=lambda: os.rmdir(gone))

    def test_in_any_locale(self):
        for locale in ("C", "de_DE.UTF-8", "tr_TR", "\xff\xfe", "x" * 5000, "../../etc"):
            self.everywhere(environment=self.changed(LC_ALL=locale, LANG=locale, LANGUAGE=locale))

    def test_with_an_environment_of_a_megabyte(self):
        large = {f"VARIABLE_{number}": "x" * 10_000 for number in range(100)}
        self.everywhere(environment=self.changed(**large, TZ=":" + "/" * 3000, COLUMNS="-1",
                                                 TERM="\x1b[2J", NO_COLOR="", GITHUB_ACTIONS="yes"))

    def test_with_few_descriptors_and_little_stack(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        self.everywhere(preexec_fn=limit)

    def test_what_only_reads_needs_no_standard_input(self):
        for code, words in self.verbs():
            if words[0] in ("compare", "baseline", "report"):
                self.call(words, code, preexec_fn=lambda: os.close(0))

    def test_a_full_disk_is_no_pass(self):
        """Every document that is too large for the limit: never half of it, never exit 0."""
        full = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
        for baselines, verb, code in (("store", "compare", 3), ("fast", "compare", 1),
                                      ("store", "report", 3)):
            out = self.folder / f"full-{baselines}-{verb}"
            done = self.call([verb, self.folder / "out/run.json", "--out", out, "--baselines",
                              self.folder / baselines], code, preexec_fn=full)
            self.assertIn(b"cannot write", done.stderr)
            self.assertEqual([], [path.name for path in out.rglob("*") if path.is_file()])
        stored = lambda: {path: path.read_bytes() for path in (self.folder / "fast").rglob("*")
                          if path.is_file()}
        before = stored()
        self.call(["baseline", "accept", self.folder / "out/run.json", "--baselines",
                   self.folder / "fast", "--reason", "x", "--reset-anchor"], 3, preexec_fn=full)
        self.assertEqual(before, stored())

    def test_a_full_standard_output_is_no_pass(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for code, words in self.verbs():
                if words[0] in ("list", "validate") or words[:2] == ["baseline", "verify"]:
                    done = subprocess.run([tool.PERFGATE, *map(str, words)], stdout=full,
                                          stderr=subprocess.PIPE, timeout=tool.PATIENCE_S)
                    self.assertEqual(3, done.returncode, done.stderr)

    def test_the_run_that_found_no_room_follows_no_planted_link(self):
        """Where everybody may write, somebody may have put a link under each name that can be
        guessed, and made the folder before."""
        temporary = self.folder / "tmp"
        temporary.mkdir()
        victim = self.write("victim", "precious")
        shard = self.shard()
        blocked = self.folder / "blocked"
        (blocked / "run.json").mkdir(parents=True)
        # The shell's own number is perfgate's, which replaces it.
        plant = ('for name in perfgate-run-$$.json perfgate-run perfgate-run-$$; do '
                 'ln -s "$VICTIM" "$TMPDIR/$name"; done; exec "$0" "$@"')
        done = subprocess.run(
            ["sh", "-c", plant, tool.PERFGATE, "compare", str(shard), "--out", str(blocked),
             "--baselines", str(self.folder / "store")],
            env=self.changed(TMPDIR=str(temporary), VICTIM=str(victim)), cwd=self.folder,
            capture_output=True, text=True, timeout=tool.PATIENCE_S)
        self.assertEqual(3, done.returncode, done.stderr)
        self.assertEqual("precious", victim.read_text())
        [kept] = [path for path in temporary.iterdir() if not path.is_symlink()]
        self.assertEqual(0o700, kept.stat().st_mode & 0o777)
        self.assertIn(f"the run is in {kept / 'run.json'} instead", done.stderr)
        self.assertEqual(json.loads(shard.read_text())["suites"],
                         json.loads((kept / "run.json").read_text())["suites"])

    def test_without_any_place_for_the_run_the_gate_still_judges(self):
        blocked = self.folder / "blocked"
        (blocked / "run.json").mkdir(parents=True)
        done = self.call(["compare", self.shard(), "--out", blocked, "--baselines",
                          self.folder / "fast"], 1, environment=self.changed(TMPDIR="/nowhere"))
        self.assertIn(b"$TMPDIR names none", done.stderr)


if __name__ == "__main__":
    tool.main()
