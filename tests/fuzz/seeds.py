# SPDX-License-Identifier: Apache-2.0
"""Small documents to start fuzzing from: seeds.py PART REPOSITORY FOLDER."""

import json
import pathlib
import struct
import sys
import zlib

part, root, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def write(name, document):
    (folder / name).write_text(json.dumps(document))


def few_cases(document, key):
    for suite in document["suites"]:
        suite[key] = suite[key][:2]
    return document


def values_alone(document):
    """As version 2 has it: what is one value of the first process has no batches."""
    document["version"] = 2
    for case in document["suites"][0]["cases"]:
        alone = [series for series in case.get("metrics", {}).values()
                 if [batch["samples"] for batch in series["batches"]] == [[series["value"]]]]
        for series in alone:
            (batch,) = series.pop("batches")
            case["once"] = {"device": batch["device"], "seed": batch["seed"]}
    return document


class Recording:
    """perfgate.activity, as harness/activity/format.hpp and record.hpp have it."""

    def __init__(self):
        self.bytes = b"perfgate.activity".ljust(20, b"\0") + struct.pack("<I", 5)
        self.block(1, text("pid") + text("12") + text("command") + text("./app"))

    def block(self, kind, payload):
        checksum = zlib.crc32(payload, zlib.crc32(struct.pack("<II", kind, len(payload))))
        self.bytes += struct.pack("<IIII", 0x42414750, kind, len(payload), checksum) + payload
        return self

    def strings(self, *texts):
        return self.block(2, b"".join(struct.pack("<I", number) + text(each)
                                      for number, each in enumerate(texts, 1)))

    def end(self, launches):
        return self.block(17, struct.pack("<12Q", launches, *10 * [0], 1)).block(19, text("exit"))


def text(value):
    return struct.pack("<I", len(value)) + value.encode()


def place(correlation):
    return struct.pack("<4I", 0, 1, 7, correlation)


def marker(time, number, kind, name):
    return struct.pack("<Q6I", time, number, kind, name, 0, 1, 0)


def recording(steps):
    """Ranges with a kernel of a graph, two outside, a copy, a memset and a synchronisation."""
    made = Recording().strings("step", "gemm", "softmax", "cudaStreamSynchronize_v3020", "c0de")
    made.block(3, b"".join(struct.pack("<16I", number, number + 1, 8, 1, 1, 128, 1, 1, 0, 0, 0, 32, 0, 64, 0, 0)
                           for number in (1, 2)))
    made.block(15, struct.pack("<2I", 2, 5))
    made.block(36, struct.pack("<Q4I", 16, 2, 5, 7, 0))
    made.block(26, struct.pack("<2I", 2, 256))
    made.block(27, struct.pack("<Q2I", 900, 1, 0))
    made.block(28, struct.pack("<4I", 0, 1, 3, 7) + struct.pack("<4I", 1, 2, 3, 9))
    made.block(30, struct.pack("<3I", 12, 1, 2))
    made.block(31, struct.pack("<6Q2I", 900, 1000 + 100 * steps, 4_000_000, 9, 1, 50, 4, 0))
    for step in range(steps):
        now, first = 1000 + 100 * step, 10 * step + 1
        # The profiler is started before each step, and stopped after all but the last.
        made.block(27, struct.pack("<Q2I", now - 5, 1, 1) + struct.pack("<Q2I", now + 92, 1, 2) * (step < steps - 1))
        made.block(11, marker(now, step + 1, 0, 1) + marker(now + 90, step + 1, 1, 0))
        made.block(9, b"".join(struct.pack("<Q2I", now + number, 1, first + number) for number in range(5)))
        made.block(4, b"".join(
            struct.pack("<2Q", now + 10 * number, now + 10 * number + 8) + place(first + number) +
            struct.pack("<Q4I", number // 2, number // 2, 0, 1 + number % 2, 0) for number in range(3)))
        made.block(5, struct.pack("<3Q", now + 40, now + 50, 4096) + place(first + 3) +
                   struct.pack("<Q2I4BI", 0, 0, 0, 1, 1, 3, 1, 0))
        made.block(6, struct.pack("<3Q", now + 50, now + 60, 64) + place(first + 4) + struct.pack("<Q2I", 0, 0, 0))
        made.block(29, struct.pack("<2Q4I", now + 20, now + 60, 12, 1, 2, 2) +
                   struct.pack("<2Q4I", now + 20, now + 90, 13, 13, 1, 0))
        made.block(8, struct.pack("<2Q4I", now + 60, now + 80, 4, 1, first + 5, 0))
        made.block(7, struct.pack("<2Q4I", now + 60, now + 80, 3, first + 5, 1, 7))
    return made.end(2 * steps).bytes


def line_table(version):
    """A .debug_line of one row, with the offset of the address that is patched into it."""
    header = bytes([1] + [1] * (version >= 4) + [1, 251, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1])
    if version < 5:
        header += b"/src\0\0k.cu\0\1\0\0\0"
    else:
        header += b"\1\1\x08\1/src\0" + b"\2\1\x1f\2\x0f\2" + struct.pack("<IBIB", 0, 0, 0, 0)
    unit = struct.pack("<H", version) + (b"\x08\0" if version >= 5 else b"")
    unit += struct.pack("<I", len(header)) + header + b"\0\x09\2"
    program = bytes(8) + b"\x03\x0a\1\0\3\x90\1\0\x20\0\1\1"
    return struct.pack("<I", len(unit) + len(program)) + unit + program, 4 + len(unit)


def cubin(version):
    """A cubin of one kernel, "k", which calls itself."""
    table, patched = line_table(version)
    symbol = struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0, 128)
    relocation = struct.pack("<QQq", 16, (1 << 32) | 0x4b, 0)
    # Name, type, flags, content, link, info.
    sections = [("", 0, 0, b"", 0, 0),
                (".text.k", 1, 6, bytes(range(128)), 0, 0),
                (".strtab", 3, 0, b"\0k\0", 0, 0),
                (".symtab", 2, 0, bytes(24) + symbol, 2, 1),
                (".nv.info", 0x70000000, 0,
                 struct.pack("<BBHII", 4, 0x12, 8, 1, 256) + struct.pack("<BBH", 3, 0x50, 0), 3, 0),
                (".debug_line", 1, 0, table, 0, 0),
                (".rela.debug_line", 4, 0, struct.pack("<QQq", patched, (1 << 32) | 2, 0), 3, 5),
                (".rela.text.k", 4, 0, relocation, 3, 1),
                (".debug_line_str", 1, 0, b"k.cu\0", 0, 0),
                (".nv.constant2.k", 1, 2, bytes(8), 0, 1)]
    names = b"\0".join(name.encode() for name, *_ in sections) + b"\0.shstrtab\0"
    sections.append((".shstrtab", 3, 0, names, 0, 0))
    body, headers = b"", b""
    for name, kind, flags, content, link, info in sections:
        headers += struct.pack("<IIQQQQIIQQ", names.index(name.encode() + b"\0"), kind, flags, 0,
                               64 + len(body), len(content), link, info, 1, 0)
        body += content
    start = b"\x7fELF\2\1\1".ljust(16, b"\0")
    return start + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64,
                               len(sections), len(sections) - 1) + body + headers


runs = [few_cases(json.loads(file.read_text()), "cases")
        for file in sorted(root.glob("tests/data/aa/*/*.run.json"))]
if part == "run":
    for number, run in enumerate(runs):
        write(f"run-{number}.json", run)
        write(f"run-{number}-alone.json", values_alone(run))
elif part == "baseline":
    for number, file in enumerate(sorted(root.glob("baselines/*/*.json"))):
        baseline = json.loads(file.read_text())
        cases = baseline["cases"]
        baseline["cases"] = cases[:2] if isinstance(cases, list) else dict(list(cases.items())[:2])
        for case in baseline["cases"].values():
            case["kernels"] = case.get("kernels", [])[:3]
        write(f"baseline-{number}.json", baseline)
elif part == "suite":
    for file in sorted(root.glob("suites/*.yaml")):
        (folder / file.name).write_text(file.read_text())
    blocks = (root / "tests/data/suites/cases.txt").read_text().split("### ")[1:]
    for number, block in enumerate(blocks):
        (folder / f"case-{number}.yaml").write_text(block.partition("\n")[2])
elif part == "benchmark":
    for file in filter(pathlib.Path.is_file, (root / "tests/data/benchmarks").iterdir()):
        (folder / file.name).write_text(file.read_text())
elif part == "activity":
    for steps in (0, 1, 3):
        (folder / f"steps-{steps}.activity").write_bytes(recording(steps))
elif part in ("kineto", "nsight_systems"):
    sys.path.insert(0, str(root / "tests/data/traces"))
    import made
    for steps in (0, 1, 3):
        if part == "kineto":
            made.kineto(folder / f"steps-{steps}.json", steps, rank=steps, extra='"WARNING": ["Dropped 1"],' * (steps > 1))
        else:
            made.nsys(folder / f"steps-{steps}.sqlite", steps, pids=(10, 11)[:steps])
elif part == "code":
    def side(load, samples):
        texts = ("LDC R1, c[0x0][0x28]", f"@!P1 {load} R12, desc[UR4][R2.64]", "FFMA R4, R12, R13, R4", "@P0 BRA `(.L_x_0)", "EXIT")
        return [{"suite": "s", "case": "blend/a[n=1]", "seconds": 1.5, "kernels": [
            {"name": "void blend<4>(float*, int)", "code": load, "labels": {".L_x_0": 1}, "launches": 40,
             "instructions": [{"at": 16 * i, "text": each, "file": "blend.cu", "line": 13 + i, "executed": 4096 * i,
                               "samples": {"long_scoreboard": samples, "selected": 7}, "of_half": samples // 2}
                              for i, each in enumerate(texts)]}]}]
    name = {"schema": "perfgate.code", "version": 1}
    write("both", name | {"cases": side("LDG.E", 900), "base": side("LDG.E.128", 300)})
    write("head", name | {"cases": side("LDG.E", 900)})
    write("problem", name | {"cases": [{"suite": "s", "case": "a", "problem": "nvdisasm was not found"}]})
elif part == "listing":
    listings = {name: (root / f"tests/data/listings/{name}.txt").read_bytes() for name in ("base", "scalar", "const")}
    for name in ("scalar", "const"):
        (folder / name).write_bytes(listings["base"] + b"\0" + listings[name])
elif part == "cubin":
    for version in (2, 4, 5):
        (folder / f"lines-{version}.cubin").write_bytes(cubin(version))
else:
    case = runs[0]["suites"][0]["cases"][0]
    for name in ("describe", "diagnose", "board_state", "ceilings"):
        write(f"request-{name}", {"do": name})
    write("request-devices", {"do": "devices", "wanted": "0,1"})
    write("request-facts", {"do": "facts", "cases": [case]})
    write("request-measure", {"do": "measure", "result": case, "settings": {}})
    write("request-counters", {"do": "counters", "jobs": [{"result": case, "settings": {}}]})
    write("reply-phase", {"reply": "phase", "phase": "timing"})
    write("reply-measure", {"reply": "measure", "result": case, "device_lost": False})
    write("reply-counters", {"reply": "counters", "results": [case]})
    write("reply-ceilings", {"reply": "ceilings", "ceilings": runs[0]["environment"]})
    write("reply-board_state", {"reply": "board_state", "environment": runs[0]["environment"]})
    write("reply-describe", {"reply": "describe",
                             "capabilities": {"environment": runs[0]["environment"]}})
    write("reply-failed", {"reply": "failed", "message": "no", "usage": True, "device_lost": False})
