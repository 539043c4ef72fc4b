# SPDX-License-Identifier: Apache-2.0
"""The Python module by itself: workloads, cases, arrays; no library and no perfgate is needed."""

import array
import ctypes
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "harness" / "kinds" / "python"))

import perfgate
from perfgate import _abi, _arrays, _case, _worker


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


class Arrays(unittest.TestCase):
    def test_memory_of_the_standard_librarys_array(self):
        values = array.array("f", [1, 2, 3])
        memory = _arrays.memory_of(values, "output 1")
        self.assertEqual((3, "f32", False, 12), (memory.count, memory.type, memory.on_device, memory.bytes))
        self.assertEqual(values.buffer_info()[0], memory.address)
        host, kind = _arrays.elements_on_host(memory)
        self.assertEqual((values.tobytes(), "f32"), (bytes(host), kind))
        _arrays.access(memory).set_bytes(memory, 0xFF)
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

    def test_uniform_depends_on_the_seed_alone(self):
        first, same, other = (perfgate.uniform(100, "f32", seed, like=array) for seed in (1, 1, 2))
        self.assertEqual(first, same)
        self.assertNotEqual(first, other)
        self.assertTrue(all(-1 <= value < 1 for value in first))
        self.assertTrue(all(0 <= value < 100 for value in perfgate.uniform(100, "i32", 1, like=array)))
        for bad in (((2, 2), "f32"), (3, "f16"), (3, "x")):
            with self.subTest(bad), self.assertRaises(ValueError):
                perfgate.uniform(*bad, 1, like=array)


class Interface(NoWorkloads):
    def test_the_tables_say_what_the_workload_says(self):
        @perfgate.workload(n=[1, 2], ratio=[0.5], exact=[True], dtype=["f32"], variants=["a", "b"], resets=True)
        def work(n, ratio, exact, dtype, seed, variant):
            return a_case()

        plugin = _worker.Plugin("x.py", _case._workloads, None)
        table = _abi.Plugin.from_address(plugin.address)
        self.assertEqual((1, 3), (table.abi_major, table.abi_minor))
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
        plugin = _worker.Plugin("x.py", _case._workloads, None)
        variant = _abi.Plugin.from_address(plugin.address).workloads[0].contents.variants[0].contents
        values = _abi.Values(ctypes.sizeof(_abi.Values), 0, None)
        out = ctypes.c_void_p()
        self.assertEqual(_abi.OK, variant.create(None, ctypes.byref(host), ctypes.byref(values), ctypes.byref(out)))
        self.assertEqual(_abi.ERROR, variant.fill(out, 1))
        self.assertRegex(said[-1], r"SystemExit: no .*test_python_module\.py:\d+")
        variant.destroy(out)
        self.assertEqual(_abi.ERROR, variant.fill(out, 1))


if __name__ == "__main__":
    unittest.main()
