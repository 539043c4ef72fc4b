# SPDX-License-Identifier: Apache-2.0
"""The one direction of dependencies: which room may include which, as harness/README.md draws it."""

import re
import unittest

import tool

ALLOWED = {  # and util, which all may use
    "util": set(),
    "model": set(),
    "document": {"model"},
    "stats": set(),
    "metrics": {"model"},
    "sdk": set(),
    "kinds/plugin": {"model"},
    "kinds/python": {"model"},
    "kinds/source": {"model", "program", "sdk", "elf", "kinds", "measure"},
    "kinds/command": {"measure", "activity", "elf", "traces", "inject", "program", "metrics", "stats", "model", "kinds"},
    "kinds/benchmark": {"model", "document", "metrics", "stats", "measure", "program", "kinds",
                        "kinds/command"},
    "worker": {"measure", "backend/host", "kinds/source", "model", "sdk"},
    "kinds": {"kinds/plugin", "kinds/python", "kinds/source", "kinds/command", "kinds/benchmark", "measure", "model"},
    "suite": {"model", "metrics", "kinds/plugin", "kinds/python", "kinds/source", "kinds/command", "kinds/benchmark"},
    "measure": {"model", "document", "metrics", "stats"},
    "elf": {"model"},
    "sass": {"elf", "model"},
    "cupti": set(),
    "backend/plugin": {"measure", "model", "sdk"},
    "backend/host": {"measure", "backend/plugin", "model"},
    "backend/cuda": {"measure", "backend/plugin", "kinds/source", "backend/host", "cupti", "elf", "program", "sdk",
                     "metrics", "model"},
    "gate": {"model", "stats"},
    "baseline": {"gate", "document", "model", "stats"},
    "review": {"gate", "model", "document", "stats", "metrics", "suite", "kinds/python", "report"},
    "sqlite": set(),
    "history": {"gate", "document", "sqlite", "stats", "model"},
    "activity": {"model", "document", "sqlite"},
    "traces": {"activity", "sqlite"},
    "stacks": {"activity", "elf"},
    "inject": {"activity", "elf", "cupti", "stacks", "model"},
    "program": {"model"},
    "explain": {"model"},
    "report": {"model", "document"},
    "runner": {"gate", "baseline", "kinds/benchmark", "review", "document", "measure", "kinds", "kinds/command",
               "suite", "metrics", "explain", "report", "inject", "activity", "traces", "program", "kinds/source",
               "stats", "model", "sass"},
    "bisect": {"runner", "gate", "measure", "document", "stats", "model"},
    "cli": None,  # all
}
# What runs inside a user's program uses nothing else of these rooms.
INSIDE_PROGRAMS = ("inject", "activity/writer", "activity/format", "activity/record", "elf", "cupti", "stacks", "util",
                   "model/communication_kernel", "model/launch_size", "model/case")
CUDA_HEADER = re.compile(r'^\s*#\s*include\s+<(cuda|cupti|nvtx|nvml|nvPTX|nvrtc)', re.MULTILINE)
INTERFACES = {"backend": "measure/backend.hpp", "kinds": "measure/programs.hpp"}
SDK = r"perfgate(_\w+)?\.hp?p?"
# What reads the keys of the kinds in suites; it alone makes what their cases are about.
KEY_READERS = {"suite/suite_parser", "suite/case_builder", "suite/command_reader", "suite/label_reader",
               "suite/benchmark_reader", "suite/python_reader", "suite/keys"}
ASKS_FOR_A_KIND = [re.compile(pattern) for pattern in (
    r"\bsubject(\.|->)kind\(\)",
    r"dynamic_cast<const (command|benchmark|source|plugin)::",
    r"\b(planned|suite_case|old_case|new_case|item)\b[\w.\->]*(\.|->)(program|source|benchmark)\b",
    r"\bPiece::Kind\b",
    r"\b(has|without|skip_absent|compile|validate)_(programs|sources|benchmarks)\b",
    r"\bis_(label|benchmark|plugin|source|program)\b",
    r'"(bench|benchmark)/\*"',
    r"EntryKind::",
    r'#include "kinds/(command/command|benchmark/benchmark|source/source|plugin/plugin)\.hpp"')]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def room_of(path):
    parts = path.split("/")
    in_folders = parts[0] in ("backend", "kinds") and len(parts) > 2
    return "/".join(parts[:2]) if in_folders else parts[0]


def violations(files, allowed):
    found = []
    for name, text in files:
        room = room_of(name)
        may = allowed[room]
        for include in INCLUDE.findall(text):
            target = "sdk" if re.fullmatch(SDK, include) else room_of(include)
            if target == room or "/" not in include and target != "sdk":
                continue
            if may is not None and target not in may | {"util"}:
                found.append(f"{name} includes {include}")
            # They implement an interface and see no more of the room that calls it.
            interface = INTERFACES.get(room.split("/")[0])
            if target == "measure" and interface not in (None, include):
                found.append(f"{name} includes {include}")
    return found


def kinds_asked_for(files):
    """Lines outside of kinds/ that ask which kind a case is."""
    found = []
    for name, text in files:
        if name.startswith("kinds/") or name.rpartition(".")[0] in KEY_READERS:
            continue
        for line in text.splitlines():
            if any(pattern.search(line) for pattern in ASKS_FOR_A_KIND):
                found.append(f"{name}: {line.strip()}")
    return found


def reached(start, files):
    """The sources that these include, however indirectly, each header with its source; names without suffix."""
    uses = {}
    for name, text in files:
        uses.setdefault(name.rpartition(".")[0], set()).update(
            include.rpartition(".")[0] for include in INCLUDE.findall(text))
    seen, todo = set(start), list(start)
    while todo:
        for used in uses.get(todo.pop(), set()) - seen:
            seen.add(used)
            todo.append(used)
    return seen


def throwing_callbacks(text):
    """Functions that CUPTI, the driver or NVTX call and that are not noexcept."""
    found = re.findall(r"(?:CUPTIAPI|PERFGATE_EXPORT(?: \w+)*) ([\w:]+)\([^)]*\)(?! noexcept)", text)
    return [name for name in found if name != "*"]


def hidden_constants(files):
    def names(text):
        return {name for line in re.findall(r"^(?:inline |static )*constexpr [^;]*;", text, re.MULTILINE)
                for name in re.findall(r"(?<!:)\b(\w+)(?: =|\{)", line)}

    def namespace(text):
        return (re.findall(r"^namespace (perfgate[\w:]*) \{", text, re.MULTILINE) or [None])[0]
    files = list(files)
    declared = {(namespace(text), constant): name for name, text in files if name.endswith(".hpp") for constant in names(text)}
    return [f"{name}: {constant} is also in {declared[namespace(text), constant]}"
            for name, text in files if name.endswith(".cpp")
            for nameless in re.findall(r"^namespace \{\n(.*?)^\}  // namespace$", text, re.MULTILINE | re.DOTALL)
            for constant in sorted(names(nameless)) if (namespace(text), constant) in declared]


def circles(files):
    """Files that include each other, each with its header as one; sorted lists of their names."""
    uses = {}
    for name, text in files:
        found = (include.rpartition(".")[0] for include in INCLUDE.findall(text))
        uses.setdefault(name.rpartition(".")[0], set()).update(found)

    def reached(start):
        seen, todo = set(), [start]
        while todo:
            for used in uses.get(todo.pop(), set()) & uses.keys():
                if used not in seen and used != start:
                    seen.add(used)
                    todo.append(used)
        return seen

    reach = {name: reached(name) for name in uses}
    found = {tuple(sorted([name] + [other for other in reach[name] if name in reach[other]]))
             for name in uses}
    return sorted(circle for circle in found if len(circle) > 1)


class Rooms(unittest.TestCase):
    maxDiff = None

    def sources(self, folder):
        for path in sorted((tool.SOURCE / folder).rglob("*")):
            # The templates of projects are users' sources.
            if "templates" in path.parts:
                continue
            if path.suffix in (".cpp", ".hpp", ".h", ".cu", ".cuh"):
                yield str(path.relative_to(tool.SOURCE / folder)), path.read_text()

    def test_every_room_includes_what_it_may(self):
        files = list(self.sources("harness"))
        self.assertGreater(len(files), 50)
        self.assertEqual([], violations(files, ALLOWED))

    def test_only_the_kinds_know_which_kind_a_case_is(self):
        self.assertEqual([], kinds_asked_for(self.sources("harness")))

    def test_a_question_for_a_kind_is_found(self):
        for line in ('if (planned.subject->kind() == "program") return;',
                     "if (dynamic_cast<const command::Program*>(&subject)) return;",
                     "if (planned.program) return;", "if (item.planned->source) return;",
                     "if (suite_case.benchmark) return;", "case command::Piece::Kind::range:",
                     "if (has_programs(plan)) return;", 'if (id == "bench/*") return;',
                     "if (operand.is_label) return;", '#include "kinds/source/source.hpp"'):
            with self.subTest(line):
                self.assertEqual([f"gate/x.cpp: {line}"], kinds_asked_for([("gate/x.cpp", line)]))
                self.assertEqual([], kinds_asked_for([("kinds/source/x.cpp", line)]))

    def test_what_runs_inside_a_program_includes_only_what_belongs_there(self):
        files = list(self.sources("harness"))
        inject = [name.rpartition(".")[0] for name, _ in files if name.startswith("inject/")]
        foreign = sorted(name for name in reached(inject, files)
                         if name not in INSIDE_PROGRAMS and name.split("/")[0] not in INSIDE_PROGRAMS)
        self.assertEqual([], foreign)

    def test_what_is_called_inside_a_program_throws_nothing(self):
        files = [(name, text) for name, text in self.sources("harness")
                 if name.startswith(("inject/", "backend/cuda/", "cupti/", "stacks/"))]
        self.assertEqual([], [(name, found) for name, text in files for found in throwing_callbacks(text)])
        self.assertEqual(["called"], throwing_callbacks("void CUPTIAPI called(void* self) {"))
        self.assertEqual([], throwing_callbacks("void CUPTIAPI Own::called(void* self,\n int) noexcept {"))

    def test_no_constant_of_a_source_hides_one_of_a_header(self):
        """Sources that are compiled together would silently take the one in the nameless namespace."""
        self.assertEqual([], hidden_constants(self.sources("harness")))
        header = ("a/x.hpp", "namespace perfgate::a {\ninline constexpr int most = 1000;\n}\n")
        source = "namespace perfgate::a {\nnamespace {\nconstexpr int few = 5, most = 3;\n}  // namespace\n}\n"
        self.assertEqual(["a/y.cpp: most is also in a/x.hpp"], hidden_constants([header, ("a/y.cpp", source)]))

    def test_cubins_are_read_without_cuda(self):
        for name, text in self.sources("harness/elf"):
            self.assertIsNone(CUDA_HEADER.search(text), name)

    def test_no_files_include_each_other_in_a_circle(self):
        self.assertEqual([], circles(self.sources("harness")))

    def test_a_circle_is_found(self):
        files = [("a/x.hpp", '#include "a/y.hpp"\n'), ("a/x.cpp", '#include "a/x.hpp"\n'),
                 ("a/y.hpp", ""), ("a/y.cpp", '#include "a/y.hpp"\n#include "b/z.hpp"\n'),
                 ("b/z.hpp", '#include "a/x.hpp"\n'), ("b/w.hpp", '#include "b/z.hpp"\n')]
        self.assertEqual([("a/x", "a/y", "b/z")], circles(files))

    def test_kernels_see_the_sdk_and_what_they_share(self):
        for name, text in self.sources("kernels"):
            for include in INCLUDE.findall(text):
                with self.subTest(name, include=include):
                    own = (tool.SOURCE / "kernels" / name).parent / include
                    folder = include.split("/")[0]
                    self.assertTrue(re.fullmatch(SDK, include) or own.exists() or
                                    folder in ("common", name.split("/")[0]))

    def test_a_violation_is_found(self):
        found = violations([("model/x.cpp", '#include "gate/gate.hpp"\n')], ALLOWED)
        self.assertEqual(["model/x.cpp includes gate/gate.hpp"], found)


if __name__ == "__main__":
    tool.main()
