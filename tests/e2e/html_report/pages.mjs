// SPDX-License-Identifier: Apache-2.0
// Reports written by perfgate as a user has it write them, and a browser to open them in.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const need = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: ctest sets it`);
  return value;
};
export const perfgate = need("PERFGATE");
export const source = need("PERFGATE_SOURCE");
export const build = need("PERFGATE_BUILD_DIR");
const tools = createRequire(path.join(build, "node", "/"));

const skipped = 77;
export function skip(reason) {
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

const axe = () => fs.readFileSync(tools.resolve("axe-core/axe.min.js"), "utf8");

/** Ends this test where the build has no page. */
export function requirePage(folder) {
  const done = run(folder, ["compare", "none.json", "--report", "none.html"]);
  if (done.stderr.includes("built without the HTML report")) skip(done.stderr.trim());
}

function run(folder, words, env = {}) {
  return spawnSync(perfgate, words, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28, timeout: 110_000, env: { ...process.env, ...env } });
}

/** Standard output of perfgate, which must end as told. */
export function tool(folder, words, code = 0, env = {}) {
  const done = run(folder, words, env);
  if (done.status !== code) throw new Error(`${words.join(" ")}: ${done.status}, not ${code}: ${done.stderr}`);
  return done.stdout;
}

export function temporaryFolder() {
  return fs.mkdtempSync(path.join(os.tmpdir(), "perfgate-html-"));
}

/** Accepts `before` as the baseline and judges `after` by it: what the console says, and the page. `machineCode` is code.json's content. */
export function reportOf(folder, name, before, after, code, machineCode = null) {
  const at = path.join(folder, name);
  fs.mkdirSync(at);
  fs.writeFileSync(path.join(at, "before.json"), JSON.stringify(before));
  fs.writeFileSync(path.join(at, "after.json"), JSON.stringify(after));
  if (machineCode) fs.writeFileSync(path.join(at, "code.json"), JSON.stringify(machineCode));
  tool(at, ["baseline", "refresh", "before.json", "--baselines", "base"]);
  const words = ["compare", "after.json", "--baselines", "base", "--report", "report.html", "--color", "never", "--verbose"];
  return { console: tool(at, words, code), file: path.join(at, "report.html") };
}

/** Opens the page and waits for the element `ready`; what it complains of, and what it asks anybody for, is the test's failure. */
export async function openedPage(browser, ready, file, { hash = "", width = 1440, height = 900, scheme = "light", mayLoad = null } = {}, use) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, offline: true });
  const page = await context.newPage();
  page.setDefaultTimeout(110_000); // long enough for a loaded machine
  const address = pathToFileURL(file).href;
  const complaints = [];
  page.on("console", (message) => complaints.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("data:") && url.split("#")[0] !== address && !mayLoad?.test(url)) complaints.push(`request: ${url}`);
  });
  try {
    await page.goto(address + hash);
    await page.locator(ready).waitFor();
    await use(page);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

export async function assertAccessible(page) {
  await page.evaluate(axe());
  const found = await page.evaluate(() =>
    window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }),
  );
  const told = found.violations.map((rule) => `${rule.id}: ${rule.help}: ${rule.nodes.map((node) => node.html.slice(0, 200)).slice(0, 3).join(" | ")}`);
  assert.deepEqual(told, []);
}
