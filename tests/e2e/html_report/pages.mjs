// SPDX-License-Identifier: Apache-2.0
// Reports written by perfgate as a user has it write them, and a browser to open them in.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

const need = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: ctest sets it`);
  return value;
};
export const perfgate = need("PERFGATE");
export const source = need("PERFGATE_SOURCE");
const tools = createRequire(path.join(need("PERFGATE_BUILD_DIR"), "node", "/"));

const skipped = 77;
function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(skipped);
}

function chromium() {
  const named = process.env.CHROMIUM;
  if (named) return named;
  for (const folder of (process.env.PATH ?? "").split(path.delimiter)) {
    for (const name of ["chromium", "google-chrome"]) {
      const file = path.join(folder, name);
      if (fs.existsSync(file)) return file;
    }
  }
  return skip("no Chromium: apt-get install chromium, or set CHROMIUM");
}

/** A browser; ends this test where there is none. */
export async function launch() {
  let playwright;
  try {
    playwright = tools("playwright-core");
  } catch (error) {
    skip(`no playwright-core, which ci/test installs with npm: ${String(error.message).split("\n")[0]}`);
  }
  const asRoot = process.getuid?.() === 0;
  return playwright.chromium.launch({
    executablePath: chromium(),
    args: asRoot ? ["--no-sandbox"] : [],
  });
}

export const axe = () => fs.readFileSync(tools.resolve("axe-core/axe.min.js"), "utf8");

/** Ends this test where the build has no page. */
export function requirePage(folder) {
  const done = run(folder, ["compare", "none.json", "--html", "none.html"]);
  if (done.stderr.includes("built without the HTML report")) skip(done.stderr.trim());
}

function run(folder, words) {
  return spawnSync(perfgate, words, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28, timeout: 110_000 });
}

/** Standard output of perfgate, which must end as told. */
export function tool(folder, words, code = 0) {
  const done = run(folder, words);
  if (done.status !== code) throw new Error(`${words.join(" ")}: ${done.status}, not ${code}: ${done.stderr}`);
  return done.stdout;
}

export function temporaryFolder() {
  return fs.mkdtempSync(path.join(os.tmpdir(), "perfgate-html-"));
}

/** Accepts `before` as the baseline and judges `after` by it: what the console says, and the page. */
export function reportOf(folder, name, before, after, code) {
  const at = path.join(folder, name);
  fs.mkdirSync(at);
  fs.writeFileSync(path.join(at, "before.json"), JSON.stringify(before));
  fs.writeFileSync(path.join(at, "after.json"), JSON.stringify(after));
  tool(at, ["baseline", "refresh", "before.json", "--baselines", "base"]);
  const words = ["compare", "after.json", "--baselines", "base", "--html", "report.html", "--color", "never", "--verbose"];
  return { console: tool(at, words, code), file: path.join(at, "report.html") };
}
