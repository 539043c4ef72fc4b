# SPDX-License-Identifier: Apache-2.0
"""The worker of Python cases: this interpreter, with perfgate's worker loaded into it.

The worker library speaks with the coordinator, measures and compares. It gets the workloads of a
file as a plugin, through the functions below; each turns an exception into an error's text.
"""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import math
import os
import sys
import traceback
from typing import Any, Callable, Dict, List, TypeVar

from . import _abi as abi
from . import _arrays, _autotune, _case, _imports, _library

_Kept = TypeVar("_Kept")
_POISON = 0xFF  # NaN in every floating-point type
_OTHER_POISON = 0x55  # of integers, which may have to be -1
_UNKNOWN_IMPORTS = "unknown"


def last_lines(error: BaseException) -> str:
    """The exception and where the author's code raised it, in one line."""
    own = os.path.dirname(__file__)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if os.path.dirname(frame.filename) != own and not frame.filename.startswith("<frozen ")]
    what = "".join(traceback.format_exception_only(type(error), error)).strip().replace("\n", "; ")
    if not frames:
        return what
    return f"{what} ({', '.join(f'{frame.filename}:{frame.lineno}' for frame in frames[-3:])})"


class Streams:
    """Makes the harness's stream the current one of each library that has a current stream."""

    def __init__(self) -> None:
        self._address = 0

    def use(self, address: int) -> None:
        if address == self._address:
            return
        self._address = address
        torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
        if torch is not None and torch.cuda.is_available():
            torch.cuda.set_stream(torch.cuda.ExternalStream(address))
        if cupy is not None:
            cupy.cuda.ExternalStream(address).use()


class Instance:
    """One case that is set up. Its arrays exist from the first fill on."""

    def __init__(self, workload: _case.Workload, variant: str, values: Dict[str, Any], streams: Streams) -> None:
        self._workload, self._variant, self._values = workload, variant, values
        self._streams = streams
        self._case: Any = None
        self._returned: Any = None
        self._prepared: Any = None

    def fill(self, seed: int) -> None:
        self._case = self._returned = self._prepared = None  # its memory is free for the next
        case = self._workload.case(self._variant, seed, self._values)
        if (case.reset is not None) != self._workload.resets:
            raise ValueError("Case has a reset: say so, @perfgate.workload(resets=True, …)" if case.reset
                             else "@perfgate.workload says resets=True, and Case has no reset")
        self._case = case
        self._poison()

    def prepare(self) -> Dict[str, str]:
        """Compiles and autotunes: the first launch. Returns what was chosen."""
        with _autotune.Choices() as chosen:
            self._run()
        self._prepared = self._returned
        self._poison()
        return {**chosen.found, **{str(name): str(value) for name, value in (self._case.choices or {}).items()}}

    def _poison(self, byte: int = _POISON) -> None:
        """Overwrites the outputs and restores the inputs, which may be the same arrays."""
        self._wait()
        for memory in self.outputs() if self._case.outputs is not None else []:
            _arrays.set_bytes(memory, byte)
        if self._case.reset is not None:
            self._case.reset()
        self._wait()

    def launch(self, stream: int) -> None:
        self._streams.use(stream)
        self._run(stream)
        self._prepared = None  # in its memory, this launch would find right values that it does not write

    def reset(self, stream: int) -> None:
        self._streams.use(stream)
        self._case.reset()

    def work(self) -> Any:
        if self._case is None:
            self.fill(0)
        return self._case

    def verify(self, result: abi.Verification) -> None:
        expected = [_arrays.memory_of(array, f"reference {number}")
                    for number, array in enumerate(_arrays.listed(self._case.reference()), 1)]
        for name in ("rtol", "atol"):
            if not math.isfinite(getattr(self._case, name)):
                raise ValueError(f"Case: {name} is {getattr(self._case, name)}, with which any result is right")
        for number, wanted in enumerate(expected, 1):
            if any(wanted.overlaps(output) for output in self.outputs()):
                raise ValueError(f"reference {number} is memory of an output, which would be compared with itself: "
                                 "compute it in an array of its own")
        self._compare(expected, result)
        integers = any(memory.type[0] in "iu" for memory in expected)
        if result.passed and integers and self._case.outputs is not None:
            self._poison(_OTHER_POISON)
            self._run()
            self._compare(expected, result)

    def _compare(self, expected: List[_arrays.Memory], result: abi.Verification) -> None:
        self._wait()
        found = self.outputs()
        if len(found) != len(expected):
            raise ValueError(f"reference returned {len(expected)} arrays, and there are {len(found)} outputs")
        for number, (output, wanted) in enumerate(zip(found, expected), 1):
            if wanted.type in ("f16", "bf16", "f32") and output.type != wanted.type:
                raise TypeError(f"reference {number} has elements of type {wanted.type}: compute it in float64")
            _library.compare(output, wanted, self._case.rtol, self._case.atol, result)
            if not result.passed:
                detail = result.detail.decode(errors="replace")
                if len(found) > 1:
                    detail = f"output {number}: {detail}"
                result.detail = detail.encode()[:511]
                return

    def _run(self, stream: int = 0) -> None:
        self._returned = None  # the next result can have its memory, which a hot cache then holds
        returned = self._case.launch(stream) if self._case._takes_stream else self._case.launch()
        if self._case.outputs is None:
            self._returned = returned
            jax = sys.modules.get("jax")
            if jax is not None:
                jax.block_until_ready(returned)

    def outputs(self) -> List[_arrays.Memory]:
        arrays = self._case.outputs if self._case.outputs is not None else self._returned
        if arrays is None:
            raise ValueError("Case names no outputs, and launch returned none")
        return [_arrays.memory_of(array, f"output {number}")
                for number, array in enumerate(_arrays.listed(arrays), 1)]

    def _wait(self) -> None:
        if self._workload.variants[self._variant] == "cuda":
            _arrays.driver().wait()


class Plugin:
    """The workloads of one file, as the plugin interface has them."""

    def __init__(self, workloads: List[_case.Workload], imports: str = "") -> None:
        self.imports = imports
        self._streams = Streams()
        self._instances: Dict[int, Instance] = {}
        self._numbers = itertools.count(1)
        self._errors: Dict[int, Any] = {}
        self._kept: List[Any] = []  # what C points to
        tables = [self._workload(each) for each in workloads]
        self._table = abi.Plugin(abi_major=abi.MAJOR, abi_minor=abi.MINOR, name=self._keep(b"python"),
                                 cuda_module=None, workloads=self._keep(abi.array_of_pointers(tables)))

    @property
    def address(self) -> int:
        return ctypes.addressof(self._table)

    def _keep(self, what: _Kept) -> _Kept:
        self._kept.append(what)
        return what

    def _workload(self, workload: _case.Workload) -> abi.Workload:
        params = [self._param(name, values) for name, values in workload.parameters.items()]
        variants = [self._variant(workload, name, target) for name, target in workload.variants.items()]
        return self._keep(abi.Workload(
            user=None, name=workload.name.encode(), help=workload.help.encode(),
            params=self._keep(abi.array_of_pointers(params)) if params else None,
            variants=self._keep(abi.array_of_pointers(variants)), work=None))

    def _param(self, name: str, values: Any) -> abi.Param:
        kind = {bool: abi.BOOL, int: abi.INT, float: abi.REAL, str: abi.TEXT}[type(values[0])]
        listed = self._keep(abi.texts([_text(value) for value in values]))
        return self._keep(abi.Param(name=name.encode(), help=b"", type=kind, minimum=-2**63, maximum=2**63 - 1,
                                    choices=None, default_value=None, values=listed))

    def _variant(self, workload: _case.Workload, name: str, target: str) -> abi.Variant:
        def create(_self: int, host: Any, values: Any, out: Any) -> int:
            def make() -> None:
                given = {one.name.decode(): _value(one) for one in
                         (values.contents.values[i] for i in range(values.contents.count))}
                number = next(self._numbers)
                self._instances[number] = Instance(workload, name, given, self._streams)
                self._errors[number] = (host.contents.set_error, host.contents.context)
                out[0] = number
            return _guarded(make, (host.contents.set_error, host.contents.context))

        def call(what: Callable[..., None]) -> Callable[..., int]:
            def function(number: int, *arguments: Any) -> int:
                # Whatever leaves a callback as an exception would reach C as a random status.
                return _guarded(lambda: what(self._instances[number], *arguments), self._errors.get(number))
            return function

        def destroy(number: int) -> None:
            self._instances.pop(number, None)
            self._errors.pop(number, None)
            if target == "cuda":
                _guarded(_arrays.release_pools, None)

        return self._keep(abi.Variant(
            user=None, name=name.encode(), help=b"", target=abi.CUDA if target == "cuda" else abi.HOST,
            submission=abi.ASYNC, min_compute_capability=0, needs_reset=int(workload.resets), supports=None,
            memory_bytes=None, create=self._keep(abi.Create(create)), destroy=self._keep(abi.Destroy(destroy)),
            fill=self._keep(abi.Fill(call(Instance.fill))),
            launch=self._keep(abi.Launch(call(lambda one, stream: one.launch(stream or 0)))),
            reset=self._keep(abi.Launch(call(lambda one, stream: one.reset(stream or 0)))),
            verify=self._keep(abi.Verify(call(lambda one, result: one.verify(result.contents)))),
            outputs=self._keep(abi.NameOutputs(call(_name_outputs))),
            work=self._keep(abi.StateWork(call(_state_work))), prepare=self._keep(abi.Prepare(call(_prepare)))))


def _name_outputs(instance: Instance, list_: Any) -> None:
    for number, memory in enumerate(instance.outputs(), 1):
        kind = "b" if memory.type == "bf16" else memory.type[0]
        output = abi.Output(name=f"output {number}".encode(), data=memory.address, bytes=memory.bytes,
                            element_bytes=memory.bytes // max(1, memory.count), element=abi.ELEMENT[kind])
        list_.contents.add(list_.contents.context, ctypes.byref(output))


def _state_work(instance: Instance, work: Any) -> None:
    case = instance.work()
    work.contents.flops, work.contents.bytes = float(case.flops), float(case.bytes)
    work.contents.arithmetic = abi.ARITHMETIC[case.arithmetic]


def _prepare(instance: Instance, chosen: Any) -> None:
    for name, value in sorted(instance.prepare().items()):
        chosen.contents.add(chosen.contents.context, name.encode(errors="replace"), value.encode(errors="replace"))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _value(value: abi.Value) -> Any:
    if value.type == abi.BOOL:
        return bool(value.integer)
    if value.type == abi.INT:
        return value.integer
    return value.real if value.type == abi.REAL else value.text.decode()


def _guarded(what: Callable[[], None], report: Any) -> int:
    try:
        what()
        return abi.OK
    except BaseException as error:  # SystemExit and KeyboardInterrupt, too: none may reach C
        if report is not None:
            set_error, context = report
            set_error(context, last_lines(error).encode(errors="replace"))
        out_of_memory = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
        return abi.OUT_OF_MEMORY if out_of_memory else abi.ERROR


def load(file: str) -> Plugin:
    """Runs the file and offers the workloads that it defines."""
    folder = os.path.dirname(os.path.abspath(file))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    before, loaded = len(_case._workloads), set(sys.modules)
    name = os.path.splitext(os.path.basename(file))[0]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        error.msg = f"{error.msg} in {sys.executable}; 'interpreter' in the suite names the Python that has it"
        raise
    workloads = _case._workloads[before:]
    if not workloads:
        raise ValueError(f"{file} defines no workload: put @perfgate.workload(…) before a function")
    imports = _imports.code_of(file, set(sys.modules) - loaded)
    return Plugin(workloads, _UNKNOWN_IMPORTS if imports is None else imports)


_plugins: Dict[bytes, Plugin] = {}  # by file
_LOAD = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(abi.Host))


def main(library_file: str, arguments: List[str]) -> int:
    # JAX would take three quarters of the device's memory, which others in this process need.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    library = _library.opened(library_file)

    def load_file(file: bytes, host: Any) -> int:
        def run() -> None:
            _plugins[file] = load(os.fsdecode(file))

        if file not in _plugins and _guarded(run, (host.contents.set_error, host.contents.context)) != abi.OK:
            return 0
        host.contents.set_error(host.contents.context, _plugins[file].imports.encode(errors="replace"))
        return _plugins[file].address

    words = (ctypes.c_char_p * (len(arguments) + 1))(*[os.fsencode(word) for word in arguments], None)
    return int(library.perfgate_worker(len(arguments), words, _LOAD(load_file)))
