# SPDX-License-Identifier: Apache-2.0
"""What autotuners choose while a case is prepared: those of Triton and of TorchInductor.

Their `run` is wrapped once, where a launch passes through anyway; it only notes the configuration
that was launched. A tuner of another version, without these attributes, is not noted.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

_listening: List["Choices"] = []
_Choice = Tuple[str, Dict[str, str]]  # a kernel, and its configuration


class Choices:
    """Within `with`, collects what is chosen: "add_kernel.BLOCK" -> "128"."""

    def __init__(self) -> None:
        self.found: Dict[str, str] = {}
        self._names: Dict[str, List[Dict[str, str]]] = {}

    def __enter__(self) -> "Choices":
        _watch("triton.runtime.autotuner", "Autotuner", _of_triton)
        _watch("torch._inductor.runtime.triton_heuristics", "CachingAutotuner", _of_inductor)
        _listening.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        _listening.remove(self)

    def add(self, kernel: str, config: Dict[str, str]) -> None:
        """One kernel may be tuned several times, for other arguments: these are numbered."""
        known = self._names.setdefault(kernel, [])
        if config in known:
            return
        known.append(config)
        name = kernel if len(known) == 1 else f"{kernel}#{len(known)}"
        self.found.update({f"{name}.{key}": value for key, value in config.items()})


def _watch(module: str, name: str, chosen: Callable[[Any], Optional[_Choice]]) -> None:
    tuner = getattr(sys.modules.get(module), name, None)
    run = getattr(tuner, "run", None)
    if run is None or getattr(run, "_perfgate", False):
        return

    @functools.wraps(run)
    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        returned = run(self, *args, **kwargs)
        if _listening:
            found = chosen(self)
            if found is not None:
                for each in _listening:
                    each.add(found[0], found[1])
        return returned

    watched._perfgate = True  # type: ignore[attr-defined]
    tuner.run = watched  # type: ignore[union-attr]


def _texts(config: Any) -> Optional[Dict[str, str]]:
    """A triton.Config, with what it leaves to the compiler left out."""
    if config is None:
        return None
    values = dict(getattr(config, "kwargs", None) or {})
    for name in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
        value = getattr(config, name, None)
        if value is not None:
            values[name] = value
    return {str(name): str(value) for name, value in values.items()}


def _name_of(function: Any) -> str:
    while not hasattr(function, "__name__") and hasattr(function, "fn"):
        function = function.fn
    return str(getattr(function, "__name__", "kernel"))


def _of_triton(tuner: Any) -> Optional[_Choice]:
    if len(getattr(tuner, "configs", None) or ()) < 2:
        return None  # there was nothing to choose
    config = _texts(getattr(tuner, "best_config", None))
    return None if config is None else (_name_of(getattr(tuner, "base_fn", None) or tuner.fn), config)


def _of_inductor(tuner: Any) -> Optional[_Choice]:
    launchers: List[Any] = list(getattr(tuner, "launchers", None) or ())
    if len(launchers) != 1:
        return None
    config = _texts(getattr(launchers[0], "config", None))
    return None if config is None else (_name_of(getattr(tuner, "fn", None)), config)
