# SPDX-License-Identifier: Apache-2.0
"""The Python module by itself: workloads, cases, arrays, inputs; no package and no device is needed."""

import array
import ast
import ctypes
import dataclasses
import importlib
import importlib.util
import inspect
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import weakref
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "harness" / "kinds" / "python"))

import perfgate
from perfgate import _abi, _arrays, _autotune, _case, _command, _imports, _library, _worker

_library.opened(str(Path(os.environ["PERFGATE_BUILD_DIR"]) / "lib/perfgate/libperfgate_worker.so"))


class NoWorkloads(unittest.TestCase):
    def setUp(self):
        self.addCleanup(setattr, _case, "_workloads", _case._workloads)
        _case._workloads = []


def a_case(**changes):
    out = array.array("f", [0])
    given = {"launch": lambda: None, "outputs": [out], "reference": lambda: array.array("d", [0])}
    return perfgate.Case(**{**given, **changes})


class Workloads(NoWorkloads):
    def test_a_function_is_a_workload_with_its_values(self):
        @perfgate.workload(n=[1, 2], dtype="f32", target="host")
        def add(n, dtype, seed):
            """Adds.

            More."""
            return a_case(bytes=n)

        self.assertEqual("add", add.name)
        self.assertEqual({"python": "host"}, add.variants)
        self.assertEqual({"n": [1, 2], "dtype": ["f32"]}, add.parameters)
        self.assertEqual("Adds.", add.help)
        self.assertEqual(2, add(2, "f32", 1).bytes)
        self.assertEqual(1, add.case("python", 7, {"n": 1, "dtype": "f32"}).bytes)

    def test_variants_are_passed_to_the_function(self):
        seen = []

        @perfgate.workload(variants={"a": "cuda", "b": "host"})
        def work(seed, variant):
            seen.append((seed, variant))
            return a_case()

        work.case("b", 3, {})
        self.assertEqual([(3, "b")], seen)

    def test_what_cannot_be_is_refused(self):
        def function(n, seed):
            return a_case()

        for given, message in (
                (dict(n=[]), "no values"), (dict(n=[1, "a"]), "must be all"), (dict(N=[1]), "expected"),
                (dict(n=[1], target="gpu"), "expected 'cuda' or 'host'"), (dict(n=[1], variants=["A"]), "expected"),
                (dict(n=[1], variants={"a": "gpu"}), "expected"), (dict(n=[1], variants=["a"]), "no parameter 'variant'"),
                (dict(m=[1]), "no parameter 'm'"), (dict(), "'n' are missing"), (dict(n=[1], name="A"), "expected")):
            with self.subTest(given), self.assertRaisesRegex((TypeError, ValueError), message):
                perfgate.workload(**given)(function)
        perfgate.workload(n=[1])(function)
        with self.assertRaisesRegex(ValueError, "twice"):
            perfgate.workload(n=[1])(function)

    def test_a_function_that_returns_no_case_is_refused(self):
        @perfgate.workload()
        def work(seed):
            return None

        with self.assertRaisesRegex(TypeError, "not perfgate.Case"):
            work.case("python", 1, {})

    def test_a_case_without_reference_or_launch_is_refused(self):
        with self.assertRaisesRegex(TypeError, "reference"):
            a_case(reference=None)
        with self.assertRaisesRegex(TypeError, "launch"):
            a_case(launch=3)
        with self.assertRaisesRegex(ValueError, "arithmetic"):
            a_case(arithmetic="f99")

    def test_a_launch_with_a_parameter_takes_the_stream(self):
        self.assertTrue(a_case(launch=lambda stream: None)._takes_stream)
        self.assertFalse(a_case(launch=lambda stream=0: None)._takes_stream)


class FakeConfig:
    def __init__(self, **kwargs):
        self.kwargs, self.num_warps, self.num_stages, self.maxnreg = kwargs, 4, 3, None


class Autotuning(unittest.TestCase):
    """Tuners as Triton and TorchInductor have them, as far as is looked at."""

    def setUp(self):
        class Autotuner:
            def __init__(self, fn, *configs):
                self.fn = self.base_fn = fn
                self.configs = list(configs)
                self.runs = 0

            def run(self, *args, chosen=0, **kwargs):
                self.runs += 1
                self.best_config = self.configs[chosen]
                return "launched"

        class CachingAutotuner:
            def __init__(self, fn, config):
                self.fn, self.launchers, self.config = fn, [], config

            def run(self, *args):
                self.launchers = [types.SimpleNamespace(config=self.config)]

        for name, tuner in (("triton.runtime.autotuner", Autotuner),
                            ("torch._inductor.runtime.triton_heuristics", CachingAutotuner)):
            module = types.ModuleType(name)
            setattr(module, tuner.__name__, tuner)
            self.addCleanup(sys.modules.pop, name, None)
            sys.modules[name] = module
        self.Autotuner, self.CachingAutotuner = Autotuner, CachingAutotuner

    def test_what_a_tuner_launched_is_recorded_while_a_case_is_prepared(self):
        def add_kernel():
            pass

        tuner = self.Autotuner(add_kernel, FakeConfig(BLOCK=64), FakeConfig(BLOCK=128))
        with _autotune.Choices() as chosen:
            self.assertEqual("launched", tuner.run(chosen=1))
            tuner.run(chosen=1)
        tuner.run(chosen=0)
        self.assertEqual(3, tuner.runs)
        self.assertEqual({"add_kernel.BLOCK": "128", "add_kernel.num_warps": "4", "add_kernel.num_stages": "3"},
                         chosen.found)

    def test_a_kernel_that_is_tuned_for_several_shapes_has_a_choice_for_each(self):
        def add_kernel():
            pass

        tuner = self.Autotuner(add_kernel, FakeConfig(BLOCK=64), FakeConfig(BLOCK=128))
        with _autotune.Choices() as chosen:
            for which in (0, 1, 0):
                tuner.run(chosen=which)
        self.assertEqual(("64", "128"), (chosen.found["add_kernel.BLOCK"], chosen.found["add_kernel#2.BLOCK"]))

    def test_a_tuner_with_one_configuration_chooses_nothing(self):
        with _autotune.Choices() as chosen:
            self.Autotuner(len, FakeConfig(BLOCK=64)).run()
        self.assertEqual({}, chosen.found)

    def test_inductors_choice_is_that_of_its_launcher(self):
        def triton_poi_fused_add_0():
            pass

        with _autotune.Choices() as chosen:
            self.CachingAutotuner(triton_poi_fused_add_0, FakeConfig(XBLOCK=256)).run()
        self.assertEqual("256", chosen.found["triton_poi_fused_add_0.XBLOCK"])

    def test_an_unknown_version_of_a_tuner_is_left_alone(self):
        sys.modules["triton.runtime.autotuner"].Autotuner = object()
        with _autotune.Choices() as chosen:
            pass
        self.assertEqual({}, chosen.found)

    def test_an_exception_of_a_tuner_ends_the_listening(self):
        tuner = self.Autotuner(len)
        with self.assertRaises(IndexError), _autotune.Choices():
            tuner.run()
        self.assertEqual([], _autotune._listening)


class Prepared(NoWorkloads):
    def setUp(self):
        super().setUp()
        self.launches = []

        @perfgate.workload(target="host")
        def work(seed):
            out = array.array("f", [0])
            return a_case(launch=lambda: self.launches.append(seed), outputs=[out],
                          choices={"BLOCK": 128, "fast": True})

        self.workload = work

    def test_a_case_launches_when_it_is_prepared_and_not_when_it_is_filled(self):
        instance = _worker.Instance(self.workload, "python", {}, None)
        instance.fill(7)
        self.assertEqual([], self.launches)
        self.assertEqual({"BLOCK": "128", "fast": "True"}, instance.prepare())
        self.assertEqual([7], self.launches)

    def test_a_result_is_free_before_the_next_launch(self):
        results, counts = [], []

        class Result(array.array):
            pass

        @perfgate.workload(target="host")
        def returns(seed):
            def launch():
                counts.append(sum(result() is not None for result in results))
                result = Result("f", [0])
                results.append(weakref.ref(result))
                return result
            return a_case(launch=launch, outputs=None)

        instance = _worker.Instance(returns, "python", {}, types.SimpleNamespace(use=lambda stream: None))
        instance.fill(1)
        for _ in range(3):
            instance.launch(0)
        self.assertEqual([0, 0, 0], counts)

    def verified(self, workload):
        instance = _worker.Instance(workload, "python", {}, types.SimpleNamespace(use=lambda stream: None))
        instance.fill(1)
        instance.prepare()
        instance.launch(0)
        result = _abi.Verification(ctypes.sizeof(_abi.Verification))
        instance.verify(result)
        return bool(result.passed), result.detail.decode()

    def test_an_output_may_be_an_input_that_a_reset_restores(self):
        @perfgate.workload(target="host", resets=True)
        def in_place(seed):
            x = array.array("f", [1, 2])

            def launch():
                x[:] = array.array("f", [2 * value for value in x])

            def reset():
                x[:] = array.array("f", [1, 2])
            return a_case(launch=launch, outputs=[x], reset=reset, reference=lambda: array.array("d", [2, 4]))

        self.assertEqual((True, "all 2 elements compared, largest error 0 of its tolerance"), self.verified(in_place))

    def test_a_result_is_not_compared_with_itself_nor_with_a_tolerance_that_allows_all(self):
        out, kept = array.array("f", [0, 0]), array.array("d", [1, 2])
        for number, (message, changes) in enumerate((
                ("memory of an output", {"reference": lambda: out}),
                ("memory of an output", {"reference": lambda: memoryview(out)[1:]}),
                ("memory of an output", {"reference": lambda: kept, "launch": lambda: kept, "outputs": None}),
                *((name, {name: value, "reference": lambda: array.array("d", [1, 2])})
                  for name in ("rtol", "atol") for value in (float("inf"), float("nan"))))):
            @perfgate.workload(target="host", name=f"itself{number}")
            def work(seed):
                return a_case(**{"launch": lambda: None, "outputs": [out], **changes})

            with self.subTest(message, number=number), self.assertRaisesRegex(ValueError, message):
                self.verified(work)

    def test_an_integer_that_is_not_written_is_wrong_whatever_is_expected(self):
        for number, expected in enumerate((-1, 0x55555555, 0)):
            @perfgate.workload(target="host", name=f"work{number}")
            def work(seed):
                out = array.array("i", [0, 0])

                def launch():
                    out[0] = expected
                return a_case(launch=launch, outputs=[out], reference=lambda: array.array("i", [expected] * 2))

            with self.subTest(expected):
                passed, detail = self.verified(work)
                self.assertFalse(passed)
                self.assertIn("element 1 ", detail)

    def test_the_table_hands_on_what_was_chosen(self):
        plugin = _worker.Plugin(_case._workloads)
        variant = _abi.Plugin.from_address(plugin.address).workloads[0].contents.variants[0].contents
        ignore = _abi.SetError(lambda context, message: None)
        host = _abi.Host(ctypes.sizeof(_abi.Host), None, ignore, ignore)
        values = _abi.Values(ctypes.sizeof(_abi.Values), 0, None)
        out, found = ctypes.c_void_p(), {}
        choices = _abi.Choices(ctypes.sizeof(_abi.Choices), None,
                               _abi.AddChoice(lambda context, name, value: found.update({name: value})))
        self.assertEqual(_abi.OK, variant.create(None, ctypes.byref(host), ctypes.byref(values), ctypes.byref(out)))
        self.assertEqual(_abi.OK, variant.fill(out, 1))
        self.assertEqual(_abi.OK, variant.prepare(out, ctypes.byref(choices)))
        self.assertEqual({b"BLOCK": b"128", b"fast": b"True"}, found)


class Arrays(unittest.TestCase):
    def test_memory_of_the_standard_librarys_array(self):
        values = array.array("f", [1, 2, 3])
        memory = _arrays.memory_of(values, "output 1")
        self.assertEqual((3, "f32", False, 12), (memory.count, memory.type, memory.on_device, memory.bytes))
        self.assertEqual(values.buffer_info()[0], memory.address)
        _arrays.set_bytes(memory, 0xFF)
        self.assertTrue(all(value != value for value in values))

    def test_what_is_no_array_is_refused(self):
        for what in (3, b"abc", memoryview(bytearray(8))[::2], array.array("f"), "text"):
            with self.subTest(what), self.assertRaises((TypeError, ValueError)):
                _arrays.memory_of(what, "output 1")

    def test_described_arrays(self):
        class Described:
            def __init__(self, **described):
                self.__array_interface__ = {"data": (64, False), "version": 3, **described}

        memory = _arrays.memory_of(Described(shape=(2, 3), typestr="<i4"), "output")
        self.assertEqual((64, 6, "i32"), (memory.address, memory.count, memory.type))
        _arrays.memory_of(Described(shape=(2, 3), typestr="<i4", strides=(12, 4)), "output")
        for bad in (dict(shape=(2, 3), typestr="<i4", strides=(4, 8)), dict(shape=(2,), typestr=">i4"),
                    dict(shape=(2,), typestr="<c8")):
            with self.subTest(bad), self.assertRaises((TypeError, ValueError)):
                _arrays.memory_of(Described(**bad), "output")


def mix(value):
    """SplitMix64's output function, as harness/sdk/perfgate_random.hpp has it."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
    return value ^ value >> 31


def random_bits(seed, index):
    step = 0x9E3779B97F4A7C15
    key = mix((mix((seed + step) % 2**64) + step) % 2**64)  # of the first input
    return mix((key + (index + 1) * step) % 2**64)


class OnDevice:
    """An array that only the driver may touch; here that of FakeDriver, whose memory is the host's."""

    TYPES = {"f": "<f4", "d": "<f8", "q": "<i8", "B": "|u1", "H": "<f2"}

    def __init__(self, code, count):
        self.host = array.array(code, bytes(count * array.array(code).itemsize))
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": self.TYPES[code], "version": 3,
                                         "data": (self.host.buffer_info()[0], False)}


class FakeDriver:
    COPY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)

    def __init__(self, error=0):
        self.copied, self.error, self.waited = [], error, 0
        self.functions = []

    def wait(self):
        self.waited += 1

    def set_bytes(self, memory, byte):
        ctypes.memset(memory.address, byte, memory.bytes)

    def address_of(self, function):
        def copy(to, source, size):
            self.copied.append((function, size))
            if self.error == 0:
                ctypes.memmove(to, source, size)
            return self.error

        self.functions.append(self.COPY(copy))
        return ctypes.cast(self.functions[-1], ctypes.c_void_p).value


class Device(unittest.TestCase):
    def setUp(self):
        self.driver = FakeDriver()
        self.addCleanup(setattr, _arrays, "_driver", _arrays._driver)
        _arrays._driver = self.driver


class Inputs(Device):
    def test_they_depend_on_seed_and_index_alone(self):
        first, same, other = (perfgate.uniform(100, "f32", seed, like=array) for seed in (1, 1, 2))
        self.assertEqual(first, same)
        self.assertNotEqual(first, other)
        self.assertTrue(all(-1 <= value < 1 for value in first))
        self.assertEqual(first[:7], perfgate.uniform(7, "f32", 1, like=array))
        for bad in (((2, 2), "f32"), (3, "f16"), (3, "x")):
            with self.subTest(bad), self.assertRaises(ValueError):
                perfgate.uniform(*bad, 1, like=array)
        self.assertEqual(0, len(perfgate.uniform(0, "f32", 1, like=array)))

    def test_they_are_those_of_plugins_in_cpp(self):
        count = 2**20 + 5
        for seed in (0, 7, 2**64 - 1, -1):
            reals, integers = (perfgate.uniform(count, dtype, seed, like=array) for dtype in ("f64", "u8"))
            for index in (0, 1, 1000, 2**20 - 1, 2**20, count - 1):
                bits = random_bits(seed % 2**64, index)
                self.assertEqual(((bits >> 40) - 2**23) / 2**23, reals[index])
                self.assertEqual(bits % 100, integers[index])

    def test_a_device_gets_the_same_values_in_chunks(self):
        count = 2**22 + 3
        for code, dtype in (("f", "f32"), ("d", "f64"), ("q", "i64"), ("B", "u8")):
            with self.subTest(dtype):
                there = OnDevice(code, count)
                _library.fill(_arrays.memory_of(there, "input"), 7)
                self.assertEqual(perfgate.uniform(count, dtype, 7, like=array), there.host)
        self.assertEqual({"cuMemcpyHtoD_v2"}, {function for function, _ in self.driver.copied})
        self.assertLessEqual(max(size for _, size in self.driver.copied), 8 * 2**22)
        self.assertEqual(8, len(self.driver.copied))
        self.assertGreaterEqual(self.driver.waited, 8)  # before and after each

    def test_a_copy_that_fails_is_an_error(self):
        self.driver.error = 700
        with self.assertRaisesRegex(RuntimeError, "CUDA error 700"):
            _library.fill(_arrays.memory_of(OnDevice("f", 5), "input"), 7)

    def test_a_part_begins_where_it_says(self):
        whole, part = perfgate.uniform(100, "f32", 3, like=array), array.array("f", bytes(40))
        _library.fill(_arrays.memory_of(part, "input"), 3, first=60)
        self.assertEqual(whole[60:70], part)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_libraries_agree(self):
        import numpy
        fake = types.SimpleNamespace(__name__="jax.numpy", asarray=lambda values: ("jax", values))
        there = types.SimpleNamespace(__name__="cupy", empty=lambda size, name: OnDevice(
            {"float32": "f", "float16": "H"}[name], size[0]))
        for dtype in ("f32", "f16"):
            values = perfgate.uniform(2**20 + 5, dtype, 3, like=numpy)
            self.assertEqual(values.tobytes(), perfgate.uniform(2**20 + 5, dtype, 3, like=there).host.tobytes())
            self.assertEqual(values.tobytes(), perfgate.uniform(2**20 + 5, dtype, 3, like=fake)[1].tobytes())
        wide = perfgate.uniform(1000, "f32", 3, like=array)
        self.assertEqual(numpy.array(wide).astype("float16").tolist(),
                         perfgate.uniform((10, 100), "f16", 3, like=numpy).ravel().tolist())
        self.assertEqual((), perfgate.uniform((), "f32", 3, like=numpy).shape)

    def test_types_of_one_byte_are_converted_in_chunks(self):
        class Tensor:
            """As far as uniform uses it. What is assigned to a part is converted."""

            def __init__(self, values, dtype):
                self.values, self.dtype, self.is_cuda = values, dtype, False

            def view(self, shape):
                return self

            numel = lambda self: len(self.values)
            is_contiguous = lambda self: True
            data_ptr = lambda self: self.values.buffer_info()[0]

            def __setitem__(self, where, part):
                assert len(self.values[where]) == len(part.values)
                self.values[where] = part.values

        def empty(size, dtype, device):
            assert device == "cpu"
            return Tensor(array.array("f", bytes(4 * (size if isinstance(size, int) else size[0]))), dtype)

        torch = types.SimpleNamespace(__name__="torch", Tensor=Tensor, empty=empty, float32="torch.float32",
                                      float8_e4m3fn="torch.float8_e4m3fn",
                                      cuda=types.SimpleNamespace(is_available=lambda: False))
        with unittest.mock.patch.dict(sys.modules, torch=torch):
            for dtype in ("e4m3", "f32"):
                made = perfgate.uniform(2**20 + 9, dtype, 5, like=torch)
                self.assertEqual(perfgate.uniform(2**20 + 9, "f32", 5, like=array), made.values)


class Comparing(Device):
    def compared(self, found, expected, rtol=0.0, atol=0.0):
        result = _abi.Verification(ctypes.sizeof(_abi.Verification))
        _library.compare(_arrays.memory_of(found, "output"), _arrays.memory_of(expected, "reference"), rtol, atol, result)
        return bool(result.passed), result.detail.decode()

    def test_arrays_on_a_device_and_on_the_host(self):
        count = 2**20 + 3
        there, here = OnDevice("f", count), array.array("d", bytes(8 * count))
        self.assertTrue(self.compared(there, here)[0])
        self.assertEqual({("cuMemcpyDtoH_v2", 4 * 2**20), ("cuMemcpyDtoH_v2", 12)}, set(self.driver.copied))
        there.host[count - 1] = 1
        passed, detail = self.compared(there, here, 0.5, 0.5)
        self.assertFalse(passed)
        self.assertIn(f"element {count - 1} is 1", detail)
        self.assertTrue(self.compared(there, here, atol=1)[0])

    def test_what_cannot_be_compared_has_not_passed(self):
        for found, expected in ((array.array("f", [1]), array.array("d", [1, 2])), (array.array("i", [1]), array.array("d", [1])),
                                (array.array("f", [float("nan")]), array.array("d", [float("nan")]))):
            self.assertFalse(self.compared(found, expected, 1, 1)[0])
        self.driver.error = 1
        passed, detail = self.compared(OnDevice("f", 2), array.array("d", [0, 0]))
        self.assertFalse(passed)
        self.assertIn("CUDA error 1", detail)


class Tree(unittest.TestCase):
    def test_files_of_an_installation_and_of_a_wheel_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            for package in ("installed/lib/perfgate/python/perfgate", "site-packages/perfgate"):
                tree = Path(folder) / ("installed" if "lib" in package else "site-packages/perfgate/tree")
                (tree / "bin").mkdir(parents=True)
                (tree / "bin/perfgate").touch()
                with unittest.mock.patch.object(_command, "PACKAGE", Path(folder) / package):
                    self.assertEqual(tree / "bin/perfgate", _command.binary())
                    with self.assertRaisesRegex(FileNotFoundError, "install"):
                        _command.file_of_tree("lib/none")


class Imports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        path = unittest.mock.patch.object(sys, "path", [folder.name, *sys.path])
        path.start()
        self.addCleanup(path.stop)
        importlib.invalidate_caches()

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        importlib.invalidate_caches()
        return str(file)

    def code_of(self, text, others=()):
        return _imports.code_of(self.write("file_of_imports.py", text), others)

    def names(self, *given):
        code = self.code_of(*given)
        return code and [line.split()[0] for line in code.split("\n")]

    def test_own_modules_are_code_wherever_they_are_imported(self):
        self.write("own_b.py", "import own_c\n")
        self.write("own_c.py", "")
        self.write("own_package/__init__.py", "")
        self.write("own_package/inner.py", "from . import other\n")
        self.write("own_package/other.py", "")
        for text, names in (
                ("import own_b", ["own_b", "own_c"]),
                ("def launch():\n    from own_c import x", ["own_c"]),
                ("from own_package import inner", ["own_package", "own_package.inner", "own_package.other"]),
                ("import os, json, ctypes, perfgate, array", ""),
                ("import re\nre.compile('a')\nmodel.eval()\ntl.load(x)\ntriton.language.load(x)\nload = 1 + load", ""),
                ("import no_such_module", "")):
            with self.subTest(text):
                self.assertEqual(names, self.names(text))
        self.assertEqual(["own_c"], self.names("import json", ["own_c", "json"]))

    def test_another_text_of_one_is_other_code(self):
        self.write("own_b.py", "x = 1")
        before = self.code_of("import own_b")
        self.write("own_b.py", "x = 2")
        self.assertNotEqual(before, self.code_of("import own_b"))

    def test_what_an_import_does_not_name_is_not_known(self):
        self.write("own_loader.py", "import importlib\nimportlib.import_module('a')")
        self.write("own_broken.py", "def")
        for text in ("import own_loader", "__import__('a')", "from ctypes import CDLL as c", "import own_broken",
                     "exec(a)", "import ctypes\nctypes.CDLL('./a.so')", "import ctypes\nctypes.PyDLL('./a.so')",
                     "import ctypes\nctypes.cdll['./a.so']", "from ctypes import *\ncdll.a", "eval(a)", "builtins.eval(a)",
                     "from builtins import compile as c", "compile(a, 'a', 'exec')", "open('a').read()", "Path('a').read_text()",
                     "import subprocess", "from os import popen", "getattr(importlib, 'import_module')('a')",
                     "getattr(np, 'load')('a')", "np.load('a')", "from numpy import load", "SourceFileLoader('a', 'a')"):
            with self.subTest(text):
                self.assertIsNone(self.code_of(text))


class Interface(NoWorkloads):
    def test_the_tables_say_what_the_workload_says(self):
        @perfgate.workload(n=[1, 2], ratio=[0.5], exact=[True], dtype=["f32"], variants=["a", "b"], resets=True)
        def work(n, ratio, exact, dtype, seed, variant):
            return a_case()

        plugin = _worker.Plugin(_case._workloads)
        table = _abi.Plugin.from_address(plugin.address)
        self.assertEqual((1, 4), (table.abi_major, table.abi_minor))
        workload = table.workloads[0].contents
        self.assertEqual(b"work", workload.name)
        self.assertFalse(table.workloads[1])
        params = {workload.params[i].contents.name: workload.params[i].contents for i in range(4)}
        self.assertEqual(_abi.INT, params[b"n"].type)
        self.assertEqual([b"1", b"2", None], [params[b"n"].values[i] for i in range(3)])
        self.assertEqual(b"0.5", params[b"ratio"].values[0])
        self.assertEqual(b"true", params[b"exact"].values[0])
        variant = workload.variants[1].contents
        self.assertEqual((b"b", _abi.CUDA, 1), (variant.name, variant.target, variant.needs_reset))

    def test_an_exception_is_an_error_with_its_place(self):
        @perfgate.workload(target="host")
        def work(seed):
            raise SystemExit("no")

        said = []
        report = _abi.SetError(lambda context, message: said.append(message.decode()))
        host = _abi.Host(ctypes.sizeof(_abi.Host), None, report, report)
        plugin = _worker.Plugin(_case._workloads)
        variant = _abi.Plugin.from_address(plugin.address).workloads[0].contents.variants[0].contents
        values = _abi.Values(ctypes.sizeof(_abi.Values), 0, None)
        out = ctypes.c_void_p()
        self.assertEqual(_abi.OK, variant.create(None, ctypes.byref(host), ctypes.byref(values), ctypes.byref(out)))
        self.assertEqual(_abi.ERROR, variant.fill(out, 1))
        self.assertRegex(said[-1], r"SystemExit: no .*test_python_module\.py:\d+")
        variant.destroy(out)
        self.assertEqual(_abi.ERROR, variant.fill(out, 1))


def interpreters():
    """By version, from 3.10 on: this one, those on PATH, and those of pyenv, of which PATH may have only one."""
    found = {sys.version_info[:2]: sys.executable}
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for minor in range(10, 20):
        named = f"python3.{minor}"
        for path in filter(None, (shutil.which(named), *map(str, pyenv.glob(f"versions/*/bin/{named}")))):
            if subprocess.run([path, "--version"], capture_output=True).returncode == 0:
                found.setdefault((3, minor), path)
    return {f"{major}.{minor}": path for (major, minor), path in sorted(found.items())}


OF_MODULE = ("Workloads", "Autotuning", "Prepared", "Arrays", "Inputs", "Comparing", "Tree", "Imports", "Interface")


class Public(unittest.TestCase):
    """What users and type checkers see of the module."""

    FOLDER = Path(perfgate.__file__).parent

    def functions(self):
        """Each function and method of the package that is its own, with a name for messages."""
        for file in sorted(self.FOLDER.glob("*.py")):
            if file.stem == "pytest_plugin" and importlib.util.find_spec("pytest") is None:
                continue
            module = importlib.import_module("perfgate" if file.stem == "__init__" else f"perfgate.{file.stem}")
            for name, value in vars(module).items():
                if getattr(value, "__module__", None) != module.__name__:
                    continue
                if inspect.isfunction(value):
                    yield f"{module.__name__}.{name}", value
                elif inspect.isclass(value):
                    for method, function in vars(value).items():
                        written = inspect.unwrap(function) if inspect.isfunction(function) else None
                        if written is not None and written.__code__.co_filename == module.__file__:
                            yield f"{module.__name__}.{name}.{method}", function

    def test_every_function_has_annotations(self):
        for name, function in self.functions():
            with self.subTest(name):
                signature = inspect.signature(function)
                self.assertIsNot(inspect.Signature.empty, signature.return_annotation)
                for parameter in list(signature.parameters.values())[1 if name.count(".") > 2 else 0:]:
                    self.assertIsNot(inspect.Parameter.empty, parameter.annotation, parameter.name)

    def test_every_public_name_has_a_docstring(self):
        self.assertEqual(sorted(perfgate.__all__), perfgate.__all__)
        for name in perfgate.__all__:
            with self.subTest(name):
                self.assertGreater(len(inspect.getdoc(getattr(perfgate, name)) or ""), 40)
                own = vars(getattr(perfgate, name)).items() if inspect.isclass(getattr(perfgate, name)) else ()
                for method, function in own:
                    if inspect.isfunction(function) and not method.startswith("_"):
                        self.assertTrue(function.__doc__, f"{name}.{method}")
        for file in self.FOLDER.glob("*.py"):
            self.assertTrue(ast.get_docstring(ast.parse(file.read_text())) , file)

    def test_every_field_of_a_case_is_described(self):
        for field in dataclasses.fields(perfgate.Case):
            self.assertIn(field.name, perfgate.Case.__doc__)

    def test_interpreters_from_3_10_on_compile_it_and_pass_its_tests(self):
        for version, python in interpreters().items():
            with self.subTest(version), tempfile.TemporaryDirectory() as out:
                print(f"Python {version}: {python}")
                copy = shutil.copytree(self.FOLDER, Path(out) / "perfgate", ignore=shutil.ignore_patterns("__pycache__"))
                done = subprocess.run([python, "-W", "error", "-m", "compileall", "-q", copy], capture_output=True, text=True)
                self.assertEqual((0, ""), (done.returncode, done.stdout + done.stderr))
                if python != sys.executable:
                    tested = subprocess.run([python, __file__, *OF_MODULE], capture_output=True, text=True)
                    self.assertEqual(0, tested.returncode, tested.stderr)

    def test_mypy_finds_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ)
            if importlib.util.find_spec("mypy") is None:
                got = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, "mypy"],
                                     capture_output=True, text=True)
                if got.returncode != 0:
                    self.skipTest("mypy is not installed, and pip cannot get it")
                environment["PYTHONPATH"] = folder
            done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports",
                                   "--cache-dir", Path(folder) / "cache", "--allow-subclassing-any",
                                   "--disable-error-code", "type-arg", "-p", "perfgate"],
                                  cwd=self.FOLDER.parent, env=environment, capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
