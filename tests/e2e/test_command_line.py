# SPDX-License-Identifier: Apache-2.0
"""What holds for every option of every verb: an empty value, as "$UNSET" gives it, is refused."""

import re
import subprocess

import tool


class EmptyValues(tool.Case):
    def refused(self, *words):
        done = subprocess.run([tool.PERFGATE, *words], cwd=self.folder, capture_output=True,
                              text=True, timeout=tool.PATIENCE_S)
        self.assertEqual(2, done.returncode, (words, done.stdout, done.stderr))
        return done.stderr

    def test_each_option_of_each_verb_refuses_one_with_its_name(self):
        tried = 0
        # The internal verb is in no help.
        worker = {"--backend": "TEXT", "--device": "TEXT", "--plugin": "TEXT"}
        for verb in [*tool.verbs(), ["worker"]]:
            options = worker if verb == ["worker"] else tool.options(verb)
            for name, value in options.items():
                # A flag's text begins after many blanks, a value's after one.
                if not value:
                    continue
                for words in ([name, ""], [f"{name}="], [f"{name}=", "other"]):
                    with self.subTest(" ".join(verb), words=words):
                        self.assertIn(name, self.refused(*verb, *words))
                        tried += 1
        self.assertGreater(tried, 300)

    def test_each_argument_refuses_one_with_its_name(self):
        for verb in tool.verbs():
            listed = re.search(r"\nPositionals:\n  ([A-Z]+) ", tool.help_of(verb))
            if listed:
                with self.subTest(" ".join(verb)):
                    self.assertIn(listed.group(1), self.refused(*verb, ""))

    def test_no_gate_is_opened_by_a_variable_that_is_not_set(self):
        for words in (["compare", "run.json", "--profile", ""],
                      ["compare", "run.json", "--baselines="],
                      ["run", "suite.yaml", "--shard", ""],
                      ["baseline", "accept", "run.json", "--reason", "why", "--expires", ""]):
            with self.subTest(words):
                self.assert_one_line(self.refused(*words).splitlines()[0],
                                     next(word for word in words if word.startswith("--") and
                                          word != "--reason").rstrip("="), "found an empty one")

    def test_what_only_looks_empty_is_a_value(self):
        self.assertNotIn("empty", self.refused("compare", "run.json", "--profile", " "))
        self.assertIn("run=", self.refused("compare", "--", "run="))


if __name__ == "__main__":
    tool.main()
