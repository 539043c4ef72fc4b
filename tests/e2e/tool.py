# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: running perfgate as a user does, in a folder of its own."""

import ctypes
import functools
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

PERFGATE = os.environ["PERFGATE"]
PLUGINS = pathlib.Path(os.environ["PERFGATE_TEST_PLUGINS"])
SOURCE = pathlib.Path(os.environ["PERFGATE_SOURCE"])
VERSION = re.search(r"VERSION (\d+\.\d+\.\d+)", (SOURCE / "CMakeLists.txt").read_text())[1]

# The first line of test programs: without the packages of a site, Python starts several times as fast.
PYTHON = f"#!{sys.executable} -ES"

# Programs of the repository start with `#!/usr/bin/env python3`. With a version manager that is a slow script: the real
# interpreter comes first.
if os.path.realpath(shutil.which("python3") or "") != os.path.realpath(sys.executable):
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

# Other tests run beside: what a test says of a time must not depend on them.
os.environ["PERFGATE_OTHER_WORK"] = "ignore"

# Long enough for a loaded machine; what hangs is ended and fails.
PATIENCE_S = 600

# A shell's background job ignores signals, which its programs would do, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# With it, nvcc compiles for one architecture where a printed command names all of them, and warns; its host code, soon.
ONE_ARCHITECTURE = {"NVCC_APPEND_FLAGS": "-arch=sm_90 -Xcompiler=-O0"}

PLURALS = ("cases|suites|metrics|kernels|copies|memsets|launches|samples|processes|baselines|"
           "ledgers|orphans|relations|gates|runs|days|passes|devices|GPUs")


def with_clock(name):
    """The environment in which workers time launches with a clock of tests/plugins/clock.cpp. With "stated" they
    measure what the plugin says it takes: nothing that a test judges then depends on how quiet the machine is."""
    return {"LD_PRELOAD": str(PLUGINS / "preloaded/test_clock.so"), "PERFGATE_TEST_CLOCK": name,
            "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"}


class Case(unittest.TestCase):
    maxDiff = None
    clock = None  # of with_clock(); None: the machine's

    def setUp(self):
        if self.clock:
            environment = unittest.mock.patch.dict(os.environ, with_clock(self.clock))
            environment.start()
            self.addCleanup(environment.stop)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="perfgate-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        # Tests run side by side on one machine; what they test of locks they say themselves.
        os.environ["PERFGATE_LOCK_DIR"] = str(self.folder / "locks")

    def run_tool(self, *words, code=0, env=None, **kwargs):
        """Runs perfgate and checks its exit code, or that it is one of several; returns the finished process."""
        done = subprocess.run(
            [PERFGATE, *map(str, words)],
            cwd=kwargs.pop("cwd", self.folder),
            capture_output=True,
            text=True,
            timeout=kwargs.pop("patience_s", PATIENCE_S),
            env={**os.environ, **(env or {})},
            **kwargs,
        )
        # "1 cases": what was said is counted.
        self.assertNotRegex(done.stdout + done.stderr, rf"(?<![\d.,/-])1 (?:{PLURALS})\b")
        self.assertIn(done.returncode, code if isinstance(code, tuple) else (code,),
                      f"{words}\nstdout:\n{done.stdout}\nstderr:\n{done.stderr}")
        return done

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def script(self, name, text):
        path = self.write(name, text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def read_json(self, name):
        return json.loads((self.folder / name).read_text())

    def plugin(self, name):
        return ["--plugin", str(PLUGINS / f"{name}.so")]

    def assert_one_line(self, text, *parts):
        """A message to a user: one line, with these parts."""
        lines = text.strip().splitlines()
        self.assertEqual(1, len(lines), text)
        for part in parts:
            self.assertIn(part, lines[0])


def take_end_from_journal(folder):
    """A run looks as if it had been killed before its end."""
    journal = folder / "perfgate-out/journal.jsonl"
    *lines, end = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines if "finished" in end else [*lines, end]))


def installed(case):
    """A folder with the build installed, for all tests of a class."""
    prefix = pathlib.Path(tempfile.mkdtemp(prefix="perfgate-prefix-"))
    case.addClassCleanup(shutil.rmtree, prefix, ignore_errors=True)
    subprocess.run(["cmake", "--install", os.environ["PERFGATE_BUILD_DIR"], "--prefix", prefix],
                   check=True, capture_output=True)
    return prefix


def has_nvrtc():
    """Whether perfgate finds NVRTC, which compiles the sources that suites name."""
    homes = [f"{os.environ[name]}/lib64/" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    for place in (*homes, "", "/usr/local/cuda/lib64/"):
        for major in (13, 12):
            try:
                ctypes.CDLL(f"{place}libnvrtc.so.{major}")
                return True
            except OSError:
                pass
    return False


def on_terminal(words, folder, env=None):
    """(exit code, what perfgate's standard error shows on a terminal)."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([PERFGATE, *map(str, words)], cwd=folder, stdout=subprocess.DEVNULL, stderr=theirs,
                          env={**os.environ, **(env or {})}) as process:
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 4096):
                shown += chunk
        except OSError:  # the other side has been closed
            pass
        finally:
            os.close(ours)
        return process.wait(timeout=PATIENCE_S), shown.decode()


def help_of(verb, which="--help-all"):
    return subprocess.run([PERFGATE, *verb, which], capture_output=True, text=True, check=True,
                          timeout=PATIENCE_S).stdout


def verbs(above=()):
    """The words of every command that help shows, the program itself first."""
    found = [list(above)]
    listed = help_of(above, "--help").partition("\nCommands:\n")[2]
    for verb in re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE):
        found += verbs([*above, verb])
    return found


def options(verb):
    """Option -> what its help says of the value; empty for a flag."""
    return {name: value for name, value in re.findall(
        r"^  (?:-\w,)?(--[a-z-]+)(?: (\S+))?", help_of(verb), re.MULTILINE)}


@functools.cache
def _parser():
    """Command -> its options, and whether it takes other words."""
    return {tuple(verb): (options(verb), "\nArguments:" in help_of(verb)) for verb in verbs()}


def refused_words(words):
    """What the parser does not know of a command's words, as its help has them; empty: nothing."""
    verb = max((verb for verb in _parser() if list(verb) == words[:len(verb)]), key=len)
    named, takes_words = _parser()[verb]
    rest = words[len(verb):]
    while rest and rest[0] != "--":
        word = rest.pop(0)
        option, given, value = word.partition("=")
        if not re.match("--?[a-z]", word):
            if not takes_words:
                return f"no argument {word}"
        elif option not in named:
            return f"no option {option}"
        elif named[option]:
            if not given and not rest:
                return f"no value of {option}"
            value = value if given else rest.pop(0)
            choices = re.search(r"\{(.*?)\}", named[option])
            if choices and value not in choices.group(1).split(","):
                return f"no value {value} of {option}"
    return ""


def main():
    unittest.main(verbosity=2)
