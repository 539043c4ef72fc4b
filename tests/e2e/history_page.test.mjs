// SPDX-License-Identifier: Apache-2.0
// The site of `perfgate history site` in Chromium, opened from disk.
//
// PERFGATE_SCREENSHOTS=DIR keeps pictures of it, at three widths, light and dark.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import { assertAccessible, launch, openedPage, requirePage, source, temporaryFolder, tool } from "./html_report/pages.mjs";

const folder = temporaryFolder();
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
const browser = await launch();
requirePage(folder);
after(() => browser.close());
const screenshots = process.env.PERFGATE_SCREENSHOTS;

const recorded = JSON.parse(fs.readFileSync(path.join(source, "tests/data/runs/nvidia-h200/softmax-1.run.json"), "utf8"));
const cases = recorded.suites[0].cases.slice(0, 2);

/** A night: the first case by a factor, the second as it was. */
function night(number, factor, change = () => {}) {
  const run = structuredClone({ ...recorded, suites: [{ ...recorded.suites[0], cases, relations: [] }] });
  run.started_at = `2026-01-${String(number + 1).padStart(2, "0")}T02:00:00Z`;
  run.git_revision = number.toString(16).padStart(40, "0");
  run.suites[0].cases.forEach((of, at) => {
    for (const series of Object.values(of.metrics)) {
      for (const batch of series.batches) {
        const off = 1 + 0.001 * (((number * 7 + batch.process * 3) % 5) - 2);
        batch.samples = batch.samples.slice(0, 10).map((value) => value * off * (at === 0 ? factor : 1));
      }
    }
  });
  change(run);
  return run;
}

/** The page of a history of these runs. */
function site(name, runs, ledger = null) {
  const files = runs.map((run, i) => {
    fs.writeFileSync(path.join(folder, `${name}-${i}.run.json`), JSON.stringify(run));
    return `${name}-${i}.run.json`;
  });
  tool(folder, ["history", "add", `${name}.db`, ...files]);
  const words = ["history", "site", `${name}.db`, name];
  if (ledger) {
    const device = runs[0].environment.device.key;
    fs.mkdirSync(path.join(folder, `${name}-baselines`, device), { recursive: true });
    fs.writeFileSync(path.join(folder, `${name}-baselines`, device, "softmax.ledger.jsonl"), ledger.map((line) => JSON.stringify(line) + "\n").join(""));
    words.push("--baselines", `${name}-baselines`);
  }
  tool(folder, words);
  return path.join(folder, name, "index.html");
}

const device = recorded.environment.device.key;
const slow = "softmax/copy[dtype=f32,rows=4096,width=1024]";
const changed = site(
  "changed",
  Array.from({ length: 28 }, (_, i) =>
    night(i, i < 18 ? 1 : 1.05, (run) => {
      if (i >= 18) run.environment.driver = "999.1";
    }),
  ),
  [
    { schema: "perfgate.ledger", version: 2, suite: "softmax", device },
    { case: slow, at: "2026-01-10T00:00:00Z", action: "accept", by: "Ada", reason: "an earlier <b>decision</b>", changes: {} },
  ],
);

const opened = (file, options, use) =>
  openedPage(browser, "[data-ready]", file, { ...options, mayLoad: new RegExp(`^${pathToFileURL(path.dirname(file)).href}/data/[0-9a-f]{32}\\.js\\?[0-9a-f]+$`) }, use);

async function openCase(page, id) {
  await page.getByRole("link", { name: id }).last().click();
  await page.locator(".case[data-ready] figure").first().waitFor();
}

const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);

describe("a case that a driver made slower", () => {
  test("is on the first page, with its cause, and leads to its chart", () =>
    opened(changed, {}, async (page) => {
      const found = page.locator(".finding");
      assert.equal(await found.count(), 1);
      assert.match(await found.textContent(), /worse.*driver or toolkit.*2026-01-19.*driver changed: 580\.159\.04 → 999\.1.*gpu_time.*\+[45]\.\d %/);
      await openCase(page, slow);
      const part = page.locator(".series", { has: page.getByRole("heading", { name: "gpu_time" }) });
      assert.match(await part.getByRole("img").getAttribute("aria-label"), /28 nights from 2026-01-01 .* to 2026-01-28 .*tolerance of 4 %/);
      assert.equal(await part.locator("svg circle").count(), 28 * cases[0].metrics.gpu_time.batches.length);
      const events = await part.locator(".events li").allTextContents();
      assert.equal(events.length, 3);
      assert.match(events[0], /ledger.*2026-01-10.*Ada: an earlier <b>decision<\/b>/);
      assert.match(events.slice(1).join(), /2026-01-19.*driver 580\.159\.04 → 999\.1/);
      await page.goBack();
      await page.locator(".front").waitFor();
      await page.getByLabel("Find").fill("no such case");
      await page.getByRole("status").filter({ hasText: /^0 of 2 cases$/ }).waitFor();
    }));

  test("opens from a link; a link to a case that is gone says so", () =>
    opened(changed, { hash: "#0123456789abcdef0123456789abcdef" }, async (page) => {
      assert.match(await page.getByRole("alert").textContent(), /no such case/);
      const link = await page.getByRole("link", { name: slow }).first().getAttribute("href");
      await page.evaluate((hash) => (window.location.hash = hash), link);
      await page.locator(".case[data-ready] figure").first().waitFor();
      assert.match(await page.title(), /^softmax\/copy/);
      await page.evaluate((id) => (window.location.hash = `#case=${encodeURIComponent(id)}`), slow.replace("1024", "2048"));
      await page.getByRole("heading", { level: 1, name: slow.replace("1024", "2048") }).waitFor();
    }));
});

test("hostile names are text, in the page and in the files that it loads", async () => {
  const hostile = ["</script><script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "a\u202eb\u2028c\nd", "');window.hit=1//", "__proto__"];
  const runs = hostile.map((name, i) =>
    night(i, 1, (run) => {
      run.suites[0].name = name;
      run.environment.device.key = `k${i}`;
      run.environment.driver = name;
      run.git_revision = name;
      run.suites[0].cases[0].workload = name.replace(/[^a-z]/g, "") || "w";
      run.suites[0].cases[0].params.name = name;
    }),
  );
  const file = site("hostile", runs);
  await opened(file, {}, async (page) => {
    const count = await page.locator(".cases a").count();
    for (let i = 0; i < count; i += 2) {
      await page.locator(".cases a").nth(i).click();
      await page.locator(".case[data-ready]").waitFor();
      await page.goBack();
      await page.locator(".front").waitFor();
    }
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.evaluate(() => document.querySelectorAll("img, iframe, object").length), 0);
    assert.doesNotMatch(await page.locator("body").textContent(), /[\u202a-\u202e\u2028\u2029]/u);
    assert.ok(await fits(page));
  });
});

for (const [width, scheme] of [[420, "light"], [768, "dark"], [1440, "light"]]) {
  test(`${width} wide, ${scheme}: nothing is cut off or hard to read`, () =>
    opened(changed, { width, scheme }, async (page) => {
      assert.ok(await fits(page));
      await assertAccessible(page);
      if (screenshots) await page.screenshot({ path: path.join(screenshots, `history-${width}.png`), fullPage: true });
      await openCase(page, slow);
      assert.ok(await fits(page));
      await assertAccessible(page);
      if (screenshots) await page.screenshot({ path: path.join(screenshots, `history-case-${width}.png`), fullPage: true });
    }));
}

test("the badge says how many cases became worse lately", async () => {
  const badge = (name) => fs.readFileSync(path.join(folder, "changed", name), "utf8");
  assert.deepEqual(JSON.parse(badge("badge.json")), { schemaVersion: 1, label: "performance", message: "1 case worse", color: "red" });
  assert.match(badge("badge.svg"), /^<svg .*aria-label="performance: 1 case worse"/);
  for (const width of screenshots ? [420, 768, 1440] : []) {
    const page = await browser.newPage({ viewport: { width, height: 60 } });
    await page.goto(pathToFileURL(path.join(folder, "changed", "badge.svg")).href);
    await page.screenshot({ path: path.join(screenshots, `badge-${width}.png`) });
    await page.close();
  }
});
