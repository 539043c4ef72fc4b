# SPDX-License-Identifier: Apache-2.0
"""What a file imports that is the user's own: its code is the file's, wherever in its text the import stands.

Modules of the interpreter and of installed packages are environment.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.machinery
import importlib.util
import os
import sys
import sysconfig
import tokenize
from typing import Iterable, Iterator, List, Optional, Set, Tuple

# Load, read or run what no import statement names.
_LOADERS = {"CDLL", "ExtensionFileLoader", "LoadLibrary", "OleDLL", "PyDLL", "SourceFileLoader", "SourcelessFileLoader", "WinDLL",
            "__import__", "cdll", "cpp_extension", "create_subprocess_exec", "create_subprocess_shell", "dlopen", "exec",
            "fromfile", "genfromtxt", "import_module", "load_library", "loadtxt", "memmap", "oledll", "open", "popen", "pydll",
            "read_bytes", "read_text", "run_module", "run_path", "spec_from_file_location", "subprocess", "system", "windll"}
# Likewise as functions, but not as methods: a model has eval(), re and torch have compile().
_FUNCTIONS = {"compile", "eval"}
# Likewise `load`, such as NumPy's, but not of these modules, whose kernels load from memory.
_KERNEL_LANGUAGES = {"language", "tl"}
_LIBRARIES = tuple(os.path.join(os.path.realpath(folder), "") for folder in
                   [*(sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")),
                    os.path.dirname(__file__)])

_Spec = Optional[importlib.machinery.ModuleSpec]


def code_of(file: str, others: Iterable[str]) -> Optional[str]:
    """The names and hashes of its own modules, which `others` are, too, if they are the user's. None: not known."""
    lines: List[str] = []
    seen: Set[str] = set()
    waiting: List[Tuple[str, str, str]] = []  # name, file, package

    def add(name: str) -> None:
        if name in seen:
            return
        seen.add(name)
        spec = _spec_of(name)
        if spec is None or not spec.has_location or not spec.origin:
            return
        place = os.path.realpath(spec.origin)
        if place != os.path.realpath(file) and not place.startswith(_LIBRARIES) and not {"site-packages", "dist-packages"} & set(place.split(os.sep)):
            waiting.append((name, place, name if spec.submodule_search_locations is not None
                            else name.rpartition(".")[0]))

    waiting.append(("", file, ""))
    try:
        for name in others:
            add(name)
        for name, place, package in waiting:  # grows meanwhile
            if name:
                with open(place, "rb") as content:
                    lines.append(f"{name} {hashlib.sha256(content.read()).hexdigest()}")
            if place.endswith(tuple(importlib.machinery.SOURCE_SUFFIXES)):
                with tokenize.open(place) as source:
                    tree = ast.parse(source.read())
                for imported in _imported(tree, package):
                    add(imported)
    except Exception:  # a finder may raise anything, and a file that can be imported may not be read
        return None
    return "\n".join(sorted(lines))


class _Unknown(Exception):
    pass


def _imported(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            if node.level:
                module = importlib.util.resolve_name(module, package)
            names = [module, *(f"{module}.{alias.name}" for alias in node.names)]
        else:
            names = [_used(node)]
        for name in names:
            parts = name.split(".")
            owner = parts[-2] if len(parts) > 1 else ""
            if (parts[-1] in _LOADERS or (parts[-1] in _FUNCTIONS and owner in {"", "builtins"})
                    or (parts[-1] == "load" and owner and owner not in _KERNEL_LANGUAGES)):
                raise _Unknown(name)
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            for count in range(1, len(parts) + 1):
                yield ".".join(parts[:count])


def _used(node: ast.AST) -> str:
    """The name, with the last one before it where it is an attribute, or of getattr."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner, name = node.value, node.attr
    elif (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr" and len(node.args) > 1
          and isinstance(node.args[1], ast.Constant)):
        owner, name = node.args[0], str(node.args[1].value)
    else:
        return ""
    return f"{getattr(owner, 'attr', getattr(owner, 'id', '?'))}.{name}"


def _spec_of(name: str) -> _Spec:
    """Without importing it or its package."""
    # Not getattr: some libraries' modules make what they are asked for.
    known = getattr(sys.modules.get(name), "__dict__", {}).get("__spec__")
    if isinstance(known, importlib.machinery.ModuleSpec):
        return known
    above = name.rpartition(".")[0]
    path = None
    if above:
        package = _spec_of(above)
        if package is None or package.submodule_search_locations is None:
            return None
        path = list(package.submodule_search_locations)
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path)
        if spec is not None:
            return spec
    return None
