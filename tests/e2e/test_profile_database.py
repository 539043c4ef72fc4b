# SPDX-License-Identifier: Apache-2.0
"""`perfgate profile --sqlite`: the database that docs/profile-database.md describes, from recordings made with the
mocks of driver and CUPTI."""

import os
import re
import sqlite3
import unittest

import tool
from test_profile import MOCKS, PROGRAM, steps

PAGE = (tool.SOURCE / "docs" / "profile-database.md").read_text()
STEP = ("kernels", "4", "_Z16flash_fwd_kernelPf", "push", "inner", "kernels", "2", "gemm", "pop", "copy", "64", "sync")


@unittest.skipUnless(PROGRAM.exists(), "built without CUDA's headers: programs cannot be recorded")
class Database(tool.Case):
    def database(self, *options, program=steps(3, *STEP), code=0):
        self.run_tool("profile", *options, "--report", "sqlite:run.db", "--out", "recorded", "--", PROGRAM, *program,
                      env=MOCKS, code=code)
        return self.opened()

    def opened(self):
        connection = sqlite3.connect(f"file:{self.folder / 'run.db'}?mode=ro", uri=True)
        self.addCleanup(connection.close)
        connection.row_factory = sqlite3.Row
        self.assertEqual([("ok",)], [tuple(row) for row in connection.execute("PRAGMA integrity_check")])
        self.assertEqual([], list(connection.execute("PRAGMA foreign_key_check")))
        return connection

    def rows(self, connection, query):
        return [tuple(row) for row in connection.execute(query)]

    def test_the_examples_of_the_page(self):
        connection = self.database()
        examples = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
        self.assertEqual(3, len(examples))
        kernels, inside, waited = (list(connection.execute(each)) for each in examples)
        self.assertEqual([("flash_fwd_kernel(float*)", 12, 12 * 5000 / 1e6), ("gemm", 6, 6 * 5000 / 1e6)],
                         [(row["name"], row["launches"], row["total_ms"]) for row in kernels])
        self.assertEqual([8, 8, 128, 128], [row[key] for key in ("grid_x", "block_x") for row in kernels])
        self.assertEqual({("training step", "flash_fwd_kernel(float*)", 12), ("training step", "gemm", 6),
                          ("inner", "gemm", 6)},
                         {(row["range_name"], row["kernel"], row["launches"]) for row in inside})
        self.assertEqual(10, len(waited))
        self.assertEqual(sorted((row["waited_ns"] for row in waited), reverse=True),
                         [row["waited_ns"] for row in waited])

    def test_the_database_has_what_the_document_has(self):
        connection = self.database("--report", "profile.json")
        process, = self.read_json("profile.json")["processes"]
        self.assertEqual({(each["name"], each["count"], each["total_ns"]) for each in process["kernels"]},
                         set(self.rows(connection, "SELECT name, launches, total_ns FROM kernel_summary")))
        self.assertEqual({(each["name"], each["count"], each["total_ns"]) for each in process["calls"]},
                         set(self.rows(connection, "SELECT name, calls, total_ns FROM api_summary")))
        self.assertEqual({(each["name"], each["count"], each["work"]["kernels"], each["work"]["gpu_time_ns"],
                           each["work"]["synchronisations"]) for each in process["ranges"]},
                         set(self.rows(connection, "SELECT name, instances, kernels, gpu_time_ns, synchronisations "
                                                   "FROM range_summary")))
        self.assertEqual([(process["program"]["gpu_time_ns"], process["program"]["idle_ns"], 1)],
                         self.rows(connection, "SELECT gpu_time_ns, idle_ns, complete FROM processes"))
        self.assertEqual([(process["program"]["idle_ns"],)],
                         self.rows(connection, "SELECT sum(end_ns - start_ns) FROM gaps"))
        self.assertEqual([(3, 3 * 64)], self.rows(connection, "SELECT copies, bytes FROM copy_summary"))
        self.assertEqual([("inner", 1, "training step")] * 3, self.rows(connection, """
            SELECT own.name, own.depth, outer.name FROM ranges AS own JOIN ranges AS outer
            ON outer.range_id = own.parent_id ORDER BY own.start_ns"""))

    def test_the_recorders_page_says_which_calls_are_on_record(self):
        recorder = (tool.SOURCE / "harness" / "inject" / "decode.cpp").read_text()
        parts = re.findall(r'"(\w+)"', recorder.split("recorded_calls{")[1].split("}")[0])
        page = (tool.SOURCE / "harness" / "inject" / "README.md").read_text()
        listed = page.split("names contain")[1].split("Others")[0]
        self.assertGreater(len(parts), 20)
        self.assertEqual(sorted(parts), sorted(re.findall(r"`(\w+)`", listed)))

    def test_every_table_and_view_is_on_the_page_and_can_be_read(self):
        connection = self.database()
        names = [name for name, in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")]
        self.assertGreater(len(names), 20)
        for name in names:
            with self.subTest(name):
                self.assertIn(f"`{name}`", PAGE)
                self.assertEqual([], [column for column in connection.execute(f"SELECT * FROM {name}").description
                                      if re.search("(time|duration|size)$", column[0])], "a unit is missing")
        self.assertEqual([("perfgate.profile.sqlite", 1)], self.rows(connection, "SELECT * FROM schema_version"))
        self.assertEqual([(1,)], self.rows(connection, "PRAGMA user_version"))

    def test_processes_share_a_database_and_no_ids(self):
        connection = self.database(program=["push", "outer", "kernels", "3", "parents", "pop", "forkexec", "kernels"])
        self.assertEqual([(1,), (2,)], self.rows(connection, "SELECT process_id FROM processes ORDER BY 1"))
        self.assertEqual({("parents", 3), ("of_child", 5)},
                         set(self.rows(connection, "SELECT name, launches FROM kernel_summary")))
        self.assertEqual(2, len(set(self.rows(connection, "SELECT DISTINCT process_id FROM kernels"))))
        self.assertEqual({("outer",), (None,)}, set(self.rows(connection, "SELECT range_name FROM kernels")))

    def test_threads_keep_their_ranges(self):
        connection = self.database(program=["push", "main", "threads", "3", "kernels", "1", "own", "pop"])
        self.assertEqual({("thread", 3000), ("main", 1)},
                         set(self.rows(connection, "SELECT range_name, count(*) FROM kernels GROUP BY range_name")))
        self.assertEqual([(4,)], self.rows(connection, "SELECT count(DISTINCT thread) FROM ranges"))

    def test_what_is_not_on_record_is_null(self):
        connection = self.database("--level", "records")
        self.assertEqual([(18, 0, 0)], self.rows(connection, "SELECT count(*), count(launch_ns), count(range_id) "
                                                             "FROM kernels"))
        self.assertEqual([(0,)], self.rows(connection, "SELECT count(*) FROM api_calls"))

    def test_an_incomplete_recording_says_so(self):
        connection = self.database(program=[*steps(2, *STEP), "push", "last", "crash"], code=3)
        self.assertEqual([(0, None)], self.rows(connection, "SELECT complete, ended FROM processes"))
        self.assertIn("no end", self.rows(connection, "SELECT text FROM problems")[0][0])

    def test_hostile_names_are_text(self):
        name = b"it's \"x\"); DROP TABLE kernels;-- \xff\x1b[31m\n\xe2\x80\xae"
        name = name.decode(errors="surrogateescape")
        connection = self.database(program=["push", name, "kernels", "1", name, "pop"])
        for query in ("SELECT name FROM ranges", "SELECT name FROM kernels", "SELECT range_name FROM kernels"):
            (shown,), = self.rows(connection, query)
            self.assertTrue(shown.startswith("it's \"x\"); DROP TABLE kernels;-- ?"), shown)
            self.assertNotRegex(shown, "[\x00-\x1f\u202e]")

    def test_the_file_is_replaced_when_the_new_one_is_whole(self):
        self.database()
        (self.folder / "run.db").write_text("old")
        self.run_tool("profile", "--recording", "recorded", "--report", "sqlite:run.db")
        self.assertEqual([(18,)], self.rows(self.opened(), "SELECT count(*) FROM kernels"))
        (self.folder / "run.db").write_text("old")
        limited = f"ulimit -f 40; exec {tool.PERFGATE} profile --recording recorded --report sqlite:run.db"
        failed = tool.subprocess.run(["sh", "-c", f"trap '' XFSZ; {limited}"], cwd=self.folder, capture_output=True,
                                     text=True, timeout=tool.PATIENCE_S)
        self.assertNotEqual(0, failed.returncode)
        self.assertRegex(failed.stderr, r"cannot write run\.db: SQLite: ")
        self.assertEqual("old", (self.folder / "run.db").read_text())
        self.assertEqual([], [name for name in os.listdir(self.folder) if name.endswith(".tmp")])

    def test_what_is_no_file_is_refused(self):
        for path in ("-", "/dev/null", "."):
            with self.subTest(path):
                done = self.run_tool("profile", "--report", f"sqlite:{path}", "--", PROGRAM, *steps(1, *STEP), env=MOCKS,
                                     code=(2, 3))
                self.assert_one_line(done.stderr.splitlines()[-1])
                self.assertRegex(done.stderr, "need a file|needs a file of its own|Is a directory")


if __name__ == "__main__":
    tool.main()
