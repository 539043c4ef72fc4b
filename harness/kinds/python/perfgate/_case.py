# SPDX-License-Identifier: Apache-2.0
"""What an author states: workloads, and the case that one makes of its parameters."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any, Callable, Mapping, Optional, Sequence, Union

Value = Union[bool, int, float, str]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_ARITHMETIC = ("f32", "tf32", "f16", "bf16", "fp8")


@dataclasses.dataclass
class Case:
    """One case, ready to launch.

    launch:     does the work once, on the current stream of torch or CuPy. It may take one
                argument: the CUDA stream's address, for libraries without a current stream.
                The first launch compiles and autotunes; it is never measured.
    outputs:    arrays that a launch writes, whole. perfgate overwrites them before each checked
                launch. Without them, what `launch` returned last is checked.
    reference:  returns what the outputs must be, in the same order (one array, or a list of them),
                computed in float64 if they are floating-point.
    rtol, atol: an element x may differ from the expected y by atol + rtol * |y|; integers must be
                equal.
    reset:      restores inputs that a launch changes.
    flops:      arithmetic operations that the result needs; a multiply-add counts 2.
    bytes:      the least that must move: each input read once, each output written once.
    arithmetic: type of the operations: f32, tf32, f16, bf16 or fp8.
    choices:    what was chosen for this case, by name ({"BLOCK": 128}). What the autotuners of
                Triton and TorchInductor choose is recorded without it.
    """

    launch: Callable[..., Any]
    outputs: Optional[Sequence[Any]] = None
    reference: Optional[Callable[[], Any]] = None
    rtol: float = 0.0
    atol: float = 0.0
    reset: Optional[Callable[[], Any]] = None
    flops: float = 0.0
    bytes: float = 0.0
    arithmetic: Optional[str] = None
    choices: Optional[Mapping[str, Any]] = None

    def __post_init__(self) -> None:
        if not callable(self.launch):
            raise TypeError("Case: launch must be callable")
        if self.reference is None:
            raise TypeError("Case: a reference is missing; without one nothing shows that the result is right")
        if self.arithmetic is not None and self.arithmetic not in _ARITHMETIC:
            raise ValueError(f"Case: arithmetic is {self.arithmetic!r}; expected one of "
                             f"{', '.join(_ARITHMETIC)}")
        self._takes_stream = _parameter_count(self.launch) > 0


def _parameter_count(function: Callable[..., Any]) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
               for p in parameters)


@dataclasses.dataclass(frozen=True)
class Workload:
    """A function that makes cases, with its parameters' values and its variants."""

    name: str
    make: Callable[..., Case]
    variants: Mapping[str, str]  # name -> "cuda" or "host"
    parameters: Mapping[str, Sequence[Value]]
    resets: bool  # its cases have a reset
    help: str

    def __call__(self, *args: Any, **kwargs: Any) -> Case:
        """The author's function, for tests and debugging."""
        return self.make(*args, **kwargs)

    def case(self, variant: str, seed: int, values: Mapping[str, Value]) -> Case:
        """The case of a variant, as a worker makes it."""
        arguments: dict[str, Any] = {**values, "seed": seed, "variant": variant}
        takes = inspect.signature(self.make).parameters
        made = self.make(**{name: value for name, value in arguments.items() if name in takes})
        if not isinstance(made, Case):
            raise TypeError(f"{self.name}() returned {type(made).__name__}, not perfgate.Case")
        return made


_workloads: list[Workload] = []


def workload(*, variants: Union[Mapping[str, str], Sequence[str], None] = None, target: str = "cuda",
             name: Optional[str] = None, resets: bool = False, **parameters: Sequence[Value]) -> Callable[[Callable[..., Case]], Workload]:
    """Makes a function a workload: it is called with each combination of the parameters' values.

    The function takes the parameters by name, and `seed`: equal seeds must make equal inputs. With
    `variants` (names, or names with "cuda" or "host") it also takes `variant`, and cases of
    different variants stand side by side. Cases that have a `reset` need `resets=True`.

    Suites are read without running this file, so write the values as literals (numbers, texts,
    lists, +, -, *, //, **). What is not a literal is known when the file has run.
    """
    if target not in ("cuda", "host"):
        raise ValueError(f"workload: target is {target!r}; expected 'cuda' or 'host'")
    if variants is None:
        targets = {"python": target}
    elif isinstance(variants, Mapping):
        targets = dict(variants)
    else:
        targets = {each: target for each in variants}
    for each, where in targets.items():
        if not _NAME.fullmatch(each):
            raise ValueError(f"workload: variant {each!r}: expected [a-z][a-z0-9_]*")
        if where not in ("cuda", "host"):
            raise ValueError(f"workload: variant {each!r} is for {where!r}; expected 'cuda' or 'host'")
    values = {key: _values_of(key, given) for key, given in parameters.items()}

    def decorate(function: Callable[..., Case]) -> Workload:
        own_name = name or function.__name__
        if not _NAME.fullmatch(own_name):
            raise ValueError(f"workload {own_name!r}: expected [a-z][a-z0-9_]*")
        takes = inspect.signature(function).parameters
        wanted = [*values, "seed"] + (["variant"] if variants is not None else [])
        for parameter in wanted:
            if parameter not in takes:
                raise TypeError(f"workload '{own_name}': the function has no parameter '{parameter}'")
        for parameter, definition in takes.items():
            if parameter not in wanted and definition.default is definition.empty:
                raise TypeError(f"workload '{own_name}': the values of '{parameter}' are missing in "
                                "@perfgate.workload")
        if any(known.name == own_name for known in _workloads):
            raise ValueError(f"workload '{own_name}' is defined twice")
        lines = (inspect.getdoc(function) or "").splitlines()
        made = Workload(own_name, function, targets, values, resets, lines[0] if lines else "")
        _workloads.append(made)
        return made

    return decorate


def _values_of(name: str, given: Any) -> Sequence[Value]:
    values = list(given) if isinstance(given, (list, tuple, range)) else [given]
    if not _NAME.fullmatch(name):
        raise ValueError(f"workload: parameter {name!r}: expected [a-z][a-z0-9_]*")
    if not values:
        raise ValueError(f"workload: parameter '{name}' has no values")
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        values, kinds = [float(value) for value in values], {float}
    if len(kinds) != 1 or not kinds <= {bool, int, float, str}:
        raise TypeError(f"workload: the values of '{name}' must be all int, all float, all bool or all str")
    return values
