# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over sources of a build: tidy.py CLANG_TIDY BUILD_FOLDER SOURCE...; sources that the build
does not compile are named and left out. What was found clean is not checked again until its text, that of a header it
includes, its options, the checks or clang-tidy itself change: BUILD_FOLDER/tidy remembers."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

WORDS = ["--quiet", "--extra-arg=-Wno-unknown-warning-option"]


def commands(build):
    """What compiles each source: its folder and words."""
    return {os.path.realpath(entry["file"]): (entry["directory"], shlex.split(entry["command"]))
            for entry in json.loads((build / "compile_commands.json").read_text())}


def text_of(folder, words):
    """All that clang-tidy reads of a source: its headers, macros and comments, which hold NOLINT."""
    output = words.index("-o")
    words = [word for word in words[:output] + words[output + 2:] if word != "-c"]
    done = subprocess.run([*words, "-E", "-CC", "-dD"], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return done.stdout if done.returncode == 0 else None


def check(tidy, build, rules, source, folder, words):
    """What clang-tidy says where it is not content; None: it is."""
    text = text_of(folder, words)
    key = hashlib.sha256(b"\0".join([rules, " ".join(words).encode(), text or b""])).hexdigest()
    clean = build / "tidy" / key
    if text is not None and clean.exists():
        return None
    done = subprocess.run([tidy, "-p", build, *WORDS, source], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return done.stdout or done.stderr
    if text is not None:
        clean.touch()
    return None


def main():
    tidy = sys.argv[1]
    build = pathlib.Path(sys.argv[2]).resolve()
    (build / "tidy").mkdir(exist_ok=True)
    version = subprocess.run([tidy, "--version"], check=True, stdout=subprocess.PIPE).stdout
    settings = [pathlib.Path(".clang-tidy"), *sorted(pathlib.Path().glob("*/.clang-tidy"))]
    checks = b"".join(path.read_bytes() for path in settings)
    rules = version + checks + " ".join(WORDS).encode()
    compiled = commands(build)
    asked = [os.path.realpath(source) for source in sys.argv[3:]]
    sources = [source for source in asked if source in compiled]
    for source in sorted({*asked} - {*sources}):
        print(f"{os.path.relpath(source)}: not checked, as {build.name} does not compile it", file=sys.stderr)
    status = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        for complaint in threads.map(lambda source: check(tidy, build, rules, source, *compiled[source]),
                                     sources):
            if complaint:
                print(complaint, end="", flush=True)
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
