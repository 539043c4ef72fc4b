# SPDX-License-Identifier: Apache-2.0
"""The command `perfgate` of an installed wheel: starts the binary that lies in the package."""

import os
import sys
from pathlib import Path
from typing import List, Optional

PACKAGE = Path(__file__).resolve().parent


def binary() -> Path:
    """perfgate's binary: of the wheel, or of the installation or build folder that has this file."""
    for tree in (PACKAGE / "tree", PACKAGE.parents[2]):
        if (tree / "bin" / "perfgate").is_file():
            return tree / "bin" / "perfgate"
    raise FileNotFoundError(f"perfgate's binary is not beside {PACKAGE}: install the wheel again")


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


def main(arguments: Optional[List[str]] = None) -> None:
    program = str(binary())
    os.execve(program, [program, *(sys.argv[1:] if arguments is None else arguments)], environment())
