# SPDX-License-Identifier: Apache-2.0
"""Has a fuzz target read its seeds, and each of them cut in half: read_seeds.py PART PROGRAM."""

import pathlib
import subprocess
import sys
import tempfile

part, program = sys.argv[1:]
here = pathlib.Path(__file__).resolve().parent
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, here / "seeds.py", part, here.parent.parent, folder], check=True)
    seeds = sorted(pathlib.Path(folder).iterdir())
    for seed in seeds:
        text = seed.read_bytes()
        seed.with_name(seed.name + ".half").write_bytes(text[:len(text) // 2])
    sys.exit(subprocess.run([program, *sorted(pathlib.Path(folder).iterdir())]).returncode)
