# SPDX-License-Identifier: Apache-2.0
"""The command `perfgate` of an installed wheel: starts the binary that lies in the package."""

import os
import sys
from pathlib import Path
from typing import Optional

PACKAGE = Path(__file__).resolve().parent


def file_of_tree(name: str) -> Path:
    """A file of the wheel, or of the installation or build folder that has this package in lib/perfgate/python."""
    for tree in (PACKAGE / "tree", PACKAGE.parent.parent.parent.parent):
        if (tree / name).is_file():
            return tree / name
    raise FileNotFoundError(f"perfgate's {name} is not beside {PACKAGE}: install the wheel again")


def binary() -> Path:
    return file_of_tree("bin/perfgate")


def environment() -> dict:
    """This process's, with the folder of CUPTI if only wheels of NVIDIA have it."""
    found = dict(os.environ)
    cupti = cupti_folder()
    if cupti is not None:
        found["LD_LIBRARY_PATH"] = ":".join(filter(None, (found.get("LD_LIBRARY_PATH"), str(cupti))))
    return found


def cupti_folder() -> Optional[Path]:
    """Where a wheel that PyTorch depends on has put libcupti.so.13."""
    for root in map(Path, sys.path):
        for folder in ("nvidia/cu13/lib", "nvidia/cuda_cupti/lib"):
            if (root / folder / "libcupti.so.13").exists():
                return root / folder
    return None


def main() -> None:
    # The binary names in its messages what was started.
    os.execve(str(binary()), sys.argv, environment())
