# SPDX-License-Identifier: Apache-2.0
"""Plays GitHub's runner: carries out a workflow's jobs and a composite action's steps as they are
written, with their shell, environment files, conditions and log commands. What `uses:` brings from
elsewhere is played by stand-ins. Knows as much of the expression language as our files need, and
refuses the rest."""

import dataclasses
import itertools
import json
import os
import pathlib
import re
import subprocess
import tempfile

import yaml

# ---------------------------------------------------------------------------------- expressions

TOKEN = re.compile(r"""\s*(?:
    (?P<string>'(?:[^']|'')*') | (?P<number>-?\d+(?:\.\d+)?) |
    (?P<operator>&&|\|\||==|!=|<=|>=|[!<>()\[\],.*]) | (?P<name>[A-Za-z_][\w-]*))""", re.VERBOSE)


# What the gh programs that tests write begin with: the options that the actions pass to it.
GH_OPTIONS = r"""
jq=. directory= body=
words=("$@")
for i in "${!words[@]}"; do
    case ${words[i]} in
        --jq) jq=${words[i + 1]} ;;
        --dir) directory=${words[i + 1]} ;;
        body=@*) body=${words[i]#body=@} ;;
    esac
done
"""


class Expression:
    """One `${{ }}`: a parser that evaluates as it goes. Contexts are dictionaries, functions are
    Python's; an unknown name is an error here, where the runner would say nothing."""

    def __init__(self, text, contexts, functions):
        self.tokens, end = [], 0
        text = text.strip()
        while end < len(text):
            match = TOKEN.match(text, end)
            if not match:
                raise ValueError(f"cannot read the expression {text!r} at {end}")
            self.tokens.append((match.lastgroup, match.group(match.lastgroup)))
            end = match.end()
        self.text, self.contexts, self.functions, self.at = text, contexts, functions, 0

    def value(self):
        result = self.either()
        if self.at != len(self.tokens):
            raise ValueError(f"what follows {self.tokens[:self.at]} in {self.text!r}?")
        return result

    def take(self, *words):
        if self.at < len(self.tokens) and self.tokens[self.at][1] in words \
                and self.tokens[self.at][0] == "operator":
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def need(self, word):
        if not self.take(word):
            raise ValueError(f"{word} is missing in {self.text!r}")

    def either(self):
        left = self.both()
        while self.take("||"):
            right = self.both()
            left = left if truth(left) else right
        return left

    def both(self):
        left = self.comparison()
        while self.take("&&"):
            right = self.comparison()
            left = right if truth(left) else left
        return left

    def comparison(self):
        left = self.unary()
        while word := self.take("==", "!="):
            same = equal(left, self.unary())
            left = same if word == "==" else not same
        return left

    def unary(self):
        return not truth(self.unary()) if self.take("!") else self.postfix()

    def postfix(self):
        value = self.primary()
        while word := self.take(".", "["):
            if word == ".":
                key = self.tokens[self.at][1]
                self.at += 1
            else:
                key = self.either()
                self.need("]")
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def primary(self):
        if self.take("("):
            value = self.either()
            self.need(")")
            return value
        kind, word = self.tokens[self.at]
        self.at += 1
        if kind == "string":
            return word[1:-1].replace("''", "'")
        if kind == "number":
            return float(word) if "." in word else int(word)
        if word in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[word]
        if self.take("("):
            arguments = []
            while not self.take(")"):
                arguments.append(self.either())
                self.take(",")
            return self.functions[word](*arguments)
        return self.contexts[word]


def truth(value):
    return value not in (None, False, 0, "")


def equal(left, right):
    if isinstance(left, str) and isinstance(right, str):
        return left.lower() == right.lower()
    return left == right or (left is None and right in ("", 0, False)) or \
        (right is None and left in ("", 0, False))


def text_of(value):
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value)  # true, 7, {"a": 1}: as the runner writes them


# -------------------------------------------------------------------------------------- the log

@dataclasses.dataclass
class Annotation:
    kind: str
    message: str
    properties: dict


COMMAND = re.compile(r"^\s*::(?P<name>[\w-]+)(?:\s(?P<properties>[^:]*(?:::)?.*?))?::(?P<data>.*)$")


def unescaped(text, of_property=False):
    if of_property:
        text = text.replace("%2C", ",").replace("%3A", ":")
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def annotations_of(log):
    """The runner's reading of a step's log. A step that leaves commands stopped is an error."""
    found, stopped = [], None
    for line in log.splitlines():
        match = COMMAND.match(line)
        if stopped is not None:
            if line.strip() == f"::{stopped}::":
                stopped = None
            continue
        if not match:
            if "##[" in line:
                raise AssertionError(f"a command of the old form in the log: {line!r}")
            continue
        name, data = match["name"].lower(), match["data"]
        if name == "stop-commands":
            stopped = data
        elif name in ("error", "warning", "notice"):
            properties = dict(part.split("=", 1) for part in (match["properties"] or "").split(",")
                              if "=" in part)
            found.append(Annotation(name, unescaped(data),
                                    {key: unescaped(value, True)
                                     for key, value in properties.items()}))
        elif name not in ("group", "endgroup", "debug", "add-mask"):
            raise AssertionError(f"an unknown command in the log: {line!r}")
    if stopped is not None:
        raise AssertionError("the step ends with commands stopped")
    return found


def read_environment_file(path):
    """GITHUB_OUTPUT and GITHUB_ENV: `name=value` or `name<<WORD`, lines, WORD."""
    values, lines = {}, iter(path.read_text().splitlines())
    for line in lines:
        if not line:
            continue
        name, sign, rest = re.match(r"([^=<]+)(=|<<)(.*)", line).groups()
        if sign == "<<":
            rest = "\n".join(itertools.takewhile(lambda each, end=rest: each != end, lines))
        values[name] = rest
    return values


# ------------------------------------------------------------------------------------ the runner

@dataclasses.dataclass
class Step:
    name: str
    outcome: str  # success, failure or skipped
    log: str = ""
    annotations: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Job:
    result: str = "success"
    outputs: dict = dataclasses.field(default_factory=dict)
    steps: list = dataclasses.field(default_factory=list)
    summary: str = ""
    environment: str = ""
    permissions: dict = dataclasses.field(default_factory=dict)
    concurrency: object = None

    @property
    def log(self):
        return "\n".join(step.log for step in self.steps)

    @property
    def annotations(self):
        return [each for step in self.steps for each in step.annotations]


def read_yaml(path):
    """A file's document, by libyaml where it is there: Python's own reader takes as long as the steps."""
    return yaml.load(pathlib.Path(path).read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class Runner:
    """`stand_ins`: for the part of `uses:` before @, a function of (runner, inputs) that returns
    outputs. Local actions (./…) are carried out, and those of the repositories in `repositories`, from
    their folders. `environment` is what the machine has."""

    SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]

    def __init__(self, folder, environment, github, stand_ins):
        self.folder = pathlib.Path(folder)
        self.temp = self.folder / "_temp"
        self.temp.mkdir(parents=True, exist_ok=True)
        self.environment, self.stand_ins = dict(environment), stand_ins
        self.secrets = {}
        self.repositories = {}  # OWNER/REPO@SHA: folder
        self.github = {"repository": "owner/kernels", "sha": "0" * 40, "ref_name": "main",
                       "ref": "refs/heads/main",
                       "run_id": "7", "server_url": "https://github.com", "token": "a token",
                       "workflow": "", "event": {}, "event_name": "push", **github}
        self.workspace = None
        self.on_start = None  # called with each shell's process

    # -- workflows

    def run_workflow(self, path):
        """Every job in a workspace of its own; {id: Job}, of a matrix {id: [Job]}."""
        document = read_yaml(path)
        self.github["workflow"] = document["name"]
        jobs = {}
        waiting = dict(document["jobs"])
        while waiting:
            name = next(name for name, job in waiting.items()
                        if all(need in jobs for need in needs_of(job)))
            job = waiting.pop(name)
            rows = matrix_rows(job.get("strategy", {}).get("matrix"))
            done = [self.run_job(name, job, document, jobs, row) for row in rows]
            jobs[name] = done if "strategy" in job else done[0]
        return jobs

    def run_job(self, name, job, document, jobs, row):
        flat = {each: together(found) if isinstance(found, list) else found
                for each, found in jobs.items()}
        needs = {need: {"result": flat[need].result, "outputs": flat[need].outputs}
                 for need in needs_of(job)}
        failed = any(flat[need].result != "success" for need in needs)
        scope = Scope(self, {"github": self.github, "needs": needs, "matrix": row, "env": {},
                             "secrets": self.secrets, "runner": {"temp": str(self.temp)}, "steps": {}}, failed)
        result = Job(permissions=job.get("permissions", document.get("permissions")))
        if not scope.holds(job.get("if")):
            result.result = "skipped"
            return result
        result.environment = scope.fill(job.get("environment", ""))
        result.concurrency = scope.fill(job.get("concurrency", document.get("concurrency")))
        scope.failed = False
        scope.contexts["env"] = {key: scope.text(value)
                                 for each in (document.get("env"), job.get("env"))
                                 for key, value in (each or {}).items()}
        self.workspace = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))
        self.job = result
        self.job_environment = {**self.environment, **scope.contexts["env"]}
        self.added_path = []
        self.run_steps(job["steps"], scope)
        result.result = "failure" if scope.failed else "success"
        result.outputs = {key: scope.text(value) for key, value in job.get("outputs", {}).items()}
        return result

    # -- steps

    def run_steps(self, steps, scope):
        for index, step in enumerate(steps):
            name = step.get("name") or step.get("uses") or f"step {index}"
            if not scope.holds(step.get("if")):
                self.record(step, scope, Step(name, "skipped"), {})
                continue
            if "run" in step:
                done, outputs = self.run_shell(name, step, scope)
            else:
                done, outputs = self.run_action(name, step, scope)
            if done.outcome == "failure" and not step.get("continue-on-error"):
                scope.failed = True
            self.record(step, scope, done, outputs)

    def record(self, step, scope, done, outputs):
        self.job.steps.append(done)
        if "id" in step:
            scope.contexts["steps"][step["id"]] = {"outcome": done.outcome, "outputs": outputs,
                                                   "conclusion": done.outcome}

    def run_shell(self, name, step, scope):
        assert step["shell"] == "bash", step
        files = {}
        for variable in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"):
            handle, path = tempfile.mkstemp(prefix=variable, dir=self.temp)
            os.close(handle)
            files[variable] = pathlib.Path(path)
        script = self.temp / f"script-{len(os.listdir(self.temp))}.sh"
        script.write_text(scope.text(step["run"]))
        environment = {
            **self.job_environment,
            **{key: scope.text(value) for key, value in step.get("env", {}).items()},
            **{key: str(path) for key, path in files.items()},
            "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_SERVER_URL": self.github["server_url"], "GITHUB_API_URL": self.github["server_url"] + "/api/v3",
            "GITHUB_RUN_ID": self.github["run_id"],
            "GITHUB_REPOSITORY": self.github["repository"], "GITHUB_SHA": self.github["sha"],
            "RUNNER_TEMP": str(self.temp),
        }
        if scope.action_path:
            environment["GITHUB_ACTION_PATH"] = str(scope.action_path)
        environment["PATH"] = os.pathsep.join([*self.added_path, environment["PATH"]])
        folder = self.workspace / scope.text(step.get("working-directory", "."))
        process = subprocess.Popen([*self.SHELL, str(script)], cwd=folder, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace")
        if self.on_start:
            self.on_start(process)
        log, _ = process.communicate(timeout=600)
        done = Step(name, "success" if process.returncode == 0 else "failure", log,
                    annotations_of(log))
        self.job_environment.update(read_environment_file(files["GITHUB_ENV"]))
        self.added_path[:0] = files["GITHUB_PATH"].read_text().splitlines()
        summary = files["GITHUB_STEP_SUMMARY"].read_text()
        assert len(summary.encode()) <= 1024 * 1024, "the page refuses a summary over 1 MiB"
        self.job.summary += summary
        return done, read_environment_file(files["GITHUB_OUTPUT"])

    def run_action(self, name, step, scope):
        inputs = {key: scope.text(value) for key, value in step.get("with", {}).items()}
        if step["uses"].startswith("./"):
            return self.run_composite(name, self.workspace / step["uses"], inputs)
        for repository, folder in self.repositories.items():
            owner, _, sha = repository.partition("@")
            action = re.fullmatch(re.escape(owner) + "/(.+)@" + re.escape(sha), step["uses"])
            if action:
                return self.run_composite(name, folder / action[1], inputs, owner)
        try:
            outputs = self.stand_ins[step["uses"].split("@")[0]](self, inputs) or {}
        except ActionFailed as failed:
            return Step(name, "failure", str(failed)), {}
        return Step(name, "success"), outputs

    def run_composite(self, name, folder, inputs, repository=""):
        action = read_yaml(folder / "action.yml")
        declared = action["inputs"]
        unknown = set(inputs) - set(declared)
        assert not unknown, f"{folder} has no input {unknown}"
        for key, about in declared.items():
            assert not about.get("required") or key in inputs, f"the input {key} is missing"
        given = {key: inputs.get(key, about.get("default", "")) for key, about in declared.items()}
        scope = Scope(self, {"github": {**self.github, "action_path": str(folder),
                                        "action_repository": repository},
                             "inputs": given, "steps": {}, "env": dict(self.job_environment)}, False)
        scope.action_path = folder.resolve()
        self.run_steps(action["runs"]["steps"], scope)
        outputs = {key: scope.text(about["value"])
                   for key, about in action.get("outputs", {}).items()}
        return Step(name, "failure" if scope.failed else "success"), outputs


class ActionFailed(Exception):
    pass


class Scope:
    """What expressions see in one job or one composite action."""

    def __init__(self, runner, contexts, failed):
        self.runner, self.contexts, self.failed, self.action_path = runner, contexts, failed, None
        self.asked = False

    def functions(self):
        def status(value):
            self.asked = True
            return value
        return {
            "always": lambda: status(True), "success": lambda: status(not self.failed),
            "failure": lambda: status(self.failed), "cancelled": lambda: status(False),
            "contains": lambda text, part: part in text if isinstance(text, list)
            else str(part).lower() in text_of(text).lower(),
            "startsWith": lambda text, part: text_of(text).lower().startswith(part.lower()),
            "fromJSON": json.loads, "toJSON": json.dumps,
            "format": lambda form, *words: form.format(*map(text_of, words)),
        }

    def evaluate(self, text):
        return Expression(text, self.contexts, self.functions()).value()

    def holds(self, condition):
        """An `if`; success() is meant unless it asks for a status itself."""
        self.asked = False
        if condition is None:
            return not self.failed
        text = str(condition).strip()
        whole = re.fullmatch(r"\$\{\{(.*)\}\}", text, re.DOTALL)
        value = truth(self.evaluate(whole[1] if whole else text))
        return value if self.asked else value and not self.failed

    def text(self, value):
        if not isinstance(value, str):
            return text_of(value)
        return re.sub(r"\$\{\{(.*?)\}\}", lambda match: text_of(self.evaluate(match[1])), value,
                      flags=re.DOTALL)

    def fill(self, value):
        if isinstance(value, dict):
            return {key: self.fill(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.fill(each) for each in value]
        return self.text(value) if isinstance(value, str) else value


def together(jobs):
    """What a job that needs a matrix sees of it: its worst result, and of each output the last that is not empty."""
    worst = next((job.result for job in jobs if job.result != "success"), "success")
    return Job(result=worst, outputs={key: value for job in jobs for key, value in job.outputs.items() if value})


def needs_of(job):
    needs = job.get("needs", [])
    return [needs] if isinstance(needs, str) else needs


def matrix_rows(matrix):
    if not matrix:
        return [{}]
    axes = {key: values for key, values in matrix.items() if key not in ("include", "exclude")}
    return [dict(zip(axes, row)) for row in itertools.product(*axes.values())]
