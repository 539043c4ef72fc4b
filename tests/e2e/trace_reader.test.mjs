// SPDX-License-Identifier: Apache-2.0
// The trace of `perfgate profile --trace`, read by a reader that is not ours: speedscope, which
// complains of events that do not nest, and shows each thread and stream as a profile.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, test } from "node:test";

import { build, launch, skip, source, temporaryFolder, tool } from "./html_report/pages.mjs";

const reader = path.join(build, "node", "node_modules", "speedscope", "dist", "release");
if (!fs.existsSync(reader)) skip("no speedscope, which ci/test installs with npm");
const folder = temporaryFolder();
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
const browser = await launch();
after(() => browser.close());

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };
const site = "http://reader.invalid";

/** What speedscope says of the trace, and how many profiles it found in it. */
async function read(trace) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const said = [];
    page.on("console", (line) => {
      const text = line.text();
      if (["warning", "error"].includes(line.type()) && !/WebGL|GL Driver/.test(text)) said.push(text);
    });
    page.on("pageerror", (error) => said.push(error.message));
    await page.route("**/*", (route) => {
      const name = new URL(route.request().url()).pathname;
      const file = name === "/trace.json" ? trace : path.join(reader, name === "/" ? "index.html" : name);
      if (!fs.existsSync(file)) return route.fulfill({ status: 404 });
      return route.fulfill({ body: fs.readFileSync(file), contentType: types[path.extname(file)] ?? "application/octet-stream" });
    });
    await page.goto(`${site}/#profileURL=${encodeURIComponent(`${site}/trace.json`)}&title=recorded`);
    const shown = /recorded\s*(?:\(1\/(\d+)\))?/;
    await page
      .waitForFunction((pattern) => new RegExp(pattern).test(document.body.innerText), shown.source, { timeout: 60_000 })
      .catch(() => assert.fail(`speedscope shows nothing: ${said.join("\n")}`));
    const text = await page.evaluate(() => document.body.innerText);
    return { said, profiles: Number(text.match(shown)[1] ?? 1) };
  } finally {
    await context.close();
  }
}

function eventsOf(trace) {
  return JSON.parse(fs.readFileSync(trace, "utf8")).traceEvents;
}

for (const [name, kernels] of [["graphs", 2220], ["cupy", 120]]) {
  test(`the recorded program ${name}`, async () => {
    const trace = path.join(folder, `${name}.json`);
    tool(folder, ["profile", "--recording", path.join(source, "tests", "data", "activity", name), "--report", `trace:${trace}`]);
    const events = eventsOf(trace);
    const tracks = new Set(events.filter((event) => event.ph === "X").map((event) => `${event.pid} ${event.tid}`));
    assert.deepEqual(await read(trace), { said: [], profiles: tracks.size });
    // A launch's arrow begins once and ends once.
    const arrows = (phase) => events.filter((event) => event.ph === phase).map((event) => event.id).sort();
    assert.deepEqual(arrows("s"), arrows("f"));
    assert.ok(events.filter((event) => event.cat === "kernel").length >= kernels);
  });
}

test("events that do not nest are found", async () => {
  const trace = path.join(folder, "crossing.json");
  const event = (ph, name, ts, more = {}) => ({ ph, name, ts, pid: 1, tid: 1, cat: "kernel", ...more });
  const ends = [event("B", "a", 0), event("B", "b", 1), event("E", "a", 2), event("E", "b", 3)];
  const slices = (tid) => [event("X", "a", 0, { dur: 2 }), event("X", "b", 1, { dur: 2, tid })];
  for (const [events, nest] of [[ends, false], [slices(1), false], [slices(2), true]]) {
    fs.writeFileSync(trace, JSON.stringify({ traceEvents: events }));
    assert.equal((await read(trace)).said.length === 0, nest, JSON.stringify(events));
  }
});
