# SPDX-License-Identifier: Apache-2.0
"""What autotuners chose: Triton's, and those of torch.compile."""

from __future__ import annotations

import sys
from typing import Any, Dict, Optional

_choices: Optional[Dict[str, str]] = None  # of the case that is being set up


class Recording:
    """While this is entered, the choices of kernels that run are collected."""

    def __enter__(self) -> Dict[str, str]:
        global _choices
        _watch_triton()
        _watch_inductor()
        _choices = {}
        return _choices

    def __exit__(self, *_: Any) -> None:
        global _choices
        _choices = None


def _note(name: str, config: Any) -> None:
    if _choices is not None and config is not None:
        _choices[name] = _text(config)


def _text(config: Any) -> str:
    """BLOCK: 1024, num_warps: 4"""
    values = dict(getattr(config, "kwargs", {}))
    for name in ("num_warps", "num_stages", "num_ctas"):
        value = getattr(config, name, None)
        if value is not None:
            values[name] = value
    return ", ".join(f"{name}: {values[name]}" for name in sorted(values))


def _wrap(kind: Any, chosen: Any) -> None:
    if getattr(kind, "_perfgate_watched", False):
        return
    run = kind.run

    def watched(self: Any, *arguments: Any, **named: Any) -> Any:
        result = run(self, *arguments, **named)
        if _choices is not None:
            _note(*chosen(self))
        return result

    kind.run = watched
    kind._perfgate_watched = True


def _watch_triton() -> None:
    module = sys.modules.get("triton.runtime.autotuner")
    if module is not None:
        _wrap(module.Autotuner, lambda tuner: (getattr(tuner.base_fn, "__name__", "kernel"),
                                               getattr(tuner, "best_config", None)))


def _watch_inductor() -> None:
    module = sys.modules.get("torch._inductor.runtime.triton_heuristics")
    if module is None:
        return

    def chosen(tuner: Any) -> Any:
        launchers = getattr(tuner, "launchers", [])
        name = getattr(getattr(tuner, "fn", None), "__name__", "kernel")
        return name, launchers[0].config if len(launchers) == 1 else None

    _wrap(module.CachingAutotuner, chosen)
