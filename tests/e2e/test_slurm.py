# SPDX-License-Identifier: Apache-2.0
"""ci/slurm on a real Slurm of one node: munged, slurmctld and slurmd of the system's packages, on
loopback, with configuration and state in a folder of the test's own."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import tool

SUBMIT = tool.SOURCE / "ci/slurm/submit"
DAEMONS = ("munged", "slurmctld", "slurmd")

SUITE = """
name: probe
defaults:
  metrics: [host_time]
  tolerances: {host_time: 10000%}
  time_budget: 5ms
  cache: hot
workloads:
  - workload: probe
    variants: [host]
    matrix: {n: [1000, 2000, 3000, 4000, 5000]}
    params: {iterations: 10}
"""

CONFIGURATION = """
ClusterName=perfgate
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
# What a container lacks: control groups, MPI.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
# Seconds: what waits for a while on a cluster waits here for the next look at the queue.
SchedulerParameters=sched_interval=1,batch_sched_delay=0
# More jobs at a time than there are cores: perfgate's lock makes them take turns.
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE
"""


def until(happened, what, patience_s=tool.PATIENCE_S):
    end = time.monotonic() + patience_s
    while not (found := happened()):
        if time.monotonic() > end:
            raise AssertionError(f"in {patience_s} s: {what}")
        time.sleep(0.05)
    return found


def free_ports(count):
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports


class Cluster:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="perfgate-slurm-"))
        self.processes = []
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(128))
        (self.folder / "cgroup.conf").touch()
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], ports=free_ports(2),
            folder=self.folder))
        try:
            at = self.folder / "munge"
            # --force: the folder is in /tmp, which all may write.
            self.start("munged", "--foreground", "--force", f"--socket={at}.socket",
                       f"--key-file={key}", f"--pid-file={at}.pid", f"--log-file={at}.log",
                       f"--seed-file={at}.seed")
            until(lambda: pathlib.Path(f"{at}.socket").exists(), "munged opens no socket")
            self.start("slurmctld", "-D")
            self.start("slurmd", "-D")
            until(lambda: "idle" in self.tool("sinfo", "-h", "-o", "%T", check=False),
                  "the node is not idle")
        except AssertionError as error:
            logs = [path.read_text()[-2000:] for path in self.folder.glob("*.out")]
            self.stop()
            raise AssertionError("\n".join([str(error), *logs])) from error

    def start(self, name, *words):
        with open(self.folder / f"{name}.out", "wb") as log:
            self.processes.append(subprocess.Popen(
                [shutil.which(name, path=PATH), *words], stdout=log, stderr=log,
                env=self.environment))

    def tool(self, *words, check=True):
        done = subprocess.run(words, capture_output=True, text=True, env=self.environment,
                              timeout=tool.PATIENCE_S)
        if check and done.returncode != 0:
            raise AssertionError(f"{words}: {done.stderr}")
        return done.stdout

    def jobs(self):
        return self.tool("squeue", "-h", "-a", "-r", "-o", "%i %T").split("\n")[:-1]

    def drained(self):
        try:
            until(lambda: not self.jobs(), "the queue is not empty")
        except AssertionError as error:
            raise AssertionError(self.tool("scontrol", "show", "jobs")) from error

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


class Slurm(tool.Case):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.stop)

    def setUp(self):
        super().setUp()
        self.write("probe.yaml", SUITE)
        self.write("profile.yaml", "policy: {no_baseline: fail, rounds: 0}\n")
        self.addCleanup(self.cluster.drained)
        self.addCleanup(lambda: self.cluster.tool("scancel", "--user=root"))

    def submit(self, *words, code=0, processes=1, perfgate=tool.PERFGATE):
        done = subprocess.run(
            [SUBMIT, "--perfgate", perfgate, "--out", "a 100% folder", *words, "--",
             "--backend=host", f"--processes={processes}", *self.plugin("probe_base")],
            cwd=self.folder, capture_output=True, text=True, timeout=tool.PATIENCE_S,
            env={**self.cluster.environment, "PERFGATE_LOCK_DIR": os.environ["PERFGATE_LOCK_DIR"]})
        self.assertEqual(code, done.returncode, done.stdout + done.stderr + self.logs())
        return done

    def logs(self):
        return "".join(f"--- {path.name}\n{path.read_text()}"
                       for path in sorted(self.folder.glob("*/*.log")))

    def stored(self, name):
        path = self.results() / name
        return json.loads(path.read_text()) if path.exists() else None

    def results(self):
        return self.folder / "a 100% folder"

    def test_shards_are_measured_then_merged_and_the_verdict_is_the_exit_code(self):
        # Without a baseline the profile makes it 4.
        done = self.submit("--shards", "3", "--config", "profile.yaml", "--wait", "probe.yaml",
                           code=4)
        self.assertIn("5 no_baseline", done.stdout)
        run = json.loads((self.results() / "run.json").read_text())
        self.assertEqual(5, len(run["suites"][0]["cases"]))
        self.assertNotIn("shard", run)
        for shard in (1, 2, 3):
            part = json.loads((self.results() / f"shard-{shard}/run.json").read_text())
            self.assertEqual((shard, 3), (part["shard"]["index"], part["shard"]["count"]))
            self.assertTrue((self.results() / f"shard-{shard}.log").is_file())
        for name in ("verdict.json", "junit.xml", "summary.md"):
            self.assertTrue((self.results() / name).is_file(), name)

    def test_a_shard_that_was_cancelled_is_named_by_the_merge(self):
        wrapper = self.write("perfgate", f"""#!/bin/sh
case "$*" in *--shard?2/2*) exec sleep 600 ;; esac
exec "{tool.PERFGATE}" "$@"
""")
        wrapper.chmod(0o755)
        done = self.submit("--sbatch", "--nice=7", "--sbatch", "--time=10", "probe.yaml",
                           perfgate=wrapper)
        array = done.stdout.split("measuring: job ")[1].split(",")[0]
        until(lambda: f"{array}_2 RUNNING" in self.cluster.jobs(), "the second shard does not run")
        shown = self.cluster.tool("scontrol", "show", "job", f"{array}_2")
        self.assertIn("Nice=7", shown)
        self.assertIn("TimeLimit=00:10:00", shown)
        self.cluster.tool("scancel", f"{array}_2")
        self.cluster.drained()
        self.assertIn("of 2 shards these are missing: 2",
                      (self.results() / "merge.log").read_text())
        self.assertFalse((self.results() / "run.json").exists())

    def test_without_any_shard_the_merge_says_where_to_look(self):
        merge = self.submit("none.yaml").stdout.split("merging: job ")[1].split(";")[0]
        self.cluster.drained()
        self.assertIn("ExitCode=3:0", self.cluster.tool("scontrol", "show", "job", merge))
        self.assertIn("none of the 2 shards has a run", (self.results() / "merge.log").read_text())
        self.assertIn("none.yaml", (self.results() / "shard-1.log").read_text())

    def test_a_merge_that_cannot_be_submitted_takes_the_shards_with_it(self):
        self.submit("--merge-sbatch", "--partition=none", "probe.yaml", code=1)
        self.cluster.drained()
        self.assertFalse((self.results() / "merge.log").exists())

    def test_a_task_that_was_ended_stores_what_it_has_and_goes_on_when_started_again(self):
        self.write("probe.yaml", SUITE.replace("3000, 4000, 5000", "3000").replace("1000, ", ""))
        done = self.submit("--shards", "1", "probe.yaml", processes=12)
        task = done.stdout.split("measuring: job ")[1].split(",")[0] + "_1"
        journal = self.results() / "shard-1/journal.jsonl"
        until(lambda: journal.exists() and journal.read_text().count("\n") > 3,
              "nothing is measured")
        self.cluster.tool("scontrol", "requeue", task)
        first = until(lambda: self.stored("shard-1/run.json"), "nothing is stored")
        self.assertTrue(first["interrupted"])
        # Slurm would wait two minutes in case something is wrong with the node. Within the same
        # second it would take the task for the one that it has just ended.
        until(lambda: f"{task} PENDING" in self.cluster.jobs(), "the task is not queued")
        self.cluster.tool("scontrol", "update", f"job={task}", "StartTime=now+2seconds")
        self.cluster.drained()
        self.assertFalse(self.stored("shard-1/run.json")["interrupted"], self.logs())
        self.assertEqual(first["started_at"], self.stored("run.json")["started_at"])


class Usage(tool.Case):
    def submit(self, *words):
        done = subprocess.run([SUBMIT, *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(2, done.returncode, done.stdout)
        return done.stderr

    def test_what_cannot_be_submitted_is_said_in_a_line(self):
        self.write("old/shard-1/run.json", "{}")
        for words, part in (
                ([], "no suite"), (["--", "a.yaml"], "no suite"),
                (["--shards", "0", "a.yaml"], "--shards 0"),
                (["--shards", "x", "a.yaml"], "--shards x"), (["a.yaml", "--out"], "--out needs"),
                (["--filter=x", "a.yaml"], "unknown option --filter=x"),
                (["--out", "old", "a.yaml"], "--out old: there is something in it")):
            with self.subTest(part):
                self.assert_one_line(self.submit(*words), part)


if __name__ == "__main__":
    if missing := [name for name in DAEMONS if not shutil.which(name, path=PATH)]:
        print(f"skipped: {', '.join(missing)} not installed: ci/test installs Slurm and munge")
        sys.exit(77)
    if os.geteuid() != 0:
        print("skipped: slurmd needs root")
        sys.exit(77)
    tool.main()
