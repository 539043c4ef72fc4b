// SPDX-License-Identifier: Apache-2.0
// The HTML report in Chromium, opened from disk as a person opens it.
//
// PERFGATE_SCREENSHOTS=DIR keeps pictures of it, at three widths, light and dark.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { broken, changedRun, faster, findCase, longListing, recordedRun, slower } from "./html_report/documents.mjs";
import { count as hostileCount, hostileRun, names } from "./html_report/hostile.mjs";
import { assertAccessible, launch, openedPage, reportOf, requirePage, source, temporaryFolder } from "./html_report/pages.mjs";

const folder = temporaryFolder();
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
const browser = await launch();
requirePage(folder);
const screenshots = process.env.PERFGATE_SCREENSHOTS;

const changed = reportOf(folder, "changed", recordedRun(source), changedRun(source), 1);
const everyVerdict = withGoldenData("every_verdict", () => {});
const manySuites = withGoldenData("many_suites", (data) => {
  const [suite] = data.suites;
  data.summary = "1 case slower by 11.1 %: more registers (96 → 128), so that fewer warps fit, in gemm_tiled.";
  data.cases = data.cases.filter(({ verdict }) => ["pass", "regressed"].includes(data.verdicts[verdict].name));
  data.suites = Array.from({ length: 8 }, (_, i) => ({ ...suite, name: `suite${i}` }));
  data.notes = data.suites.map(({ name }) => ({ text: "in 4 cases the spread hides changes as large as the tolerance", suites: [name] }));
});

/** The same page with every verdict in it, and relations: what the C++ writer's test has. */
function withGoldenData(name, change) {
  const golden = JSON.parse(fs.readFileSync(path.join(source, "tests/data/golden/report.html.json"), "utf8"));
  change(golden);
  const data = JSON.stringify(golden).replaceAll("<", "\\u003c");
  const page = fs.readFileSync(changed.file, "utf8");
  const target = path.join(folder, `${name}.html`);
  fs.writeFileSync(target, page.replace(/(id="data">).*?(<\/script>)/s, (_all, start, end) => start + data + end));
  return target;
}

/** The report with the machine code of its slower case. */
function withMachineCode(file) {
  const page = fs.readFileSync(file, "utf8");
  const target = path.join(folder, "machine_code.html");
  const line = (place, text, before, after) => ({
    place, text, instructions_before: 2, instructions_after: 8, before, after,
    stalls: [{ words: "waiting for memory", before: before / 2, after: after - 1 }],
  });
  const kernel = {
    name: "void blend<4>(float*, int)", sentence: "LDG.E.128 2 → 0, LDG.E 0 → 8 at blend.cu:57", compared: true,
    timed: true, length_before: 20000, length_after: 50000,
    time: "91 % of the added samples are at blend.cu:58, waiting for memory",
    lines: [line("blend.cu:58", "    x += v < w ? v : w; // <b>&amp;", 12.5, 61.25), line("blend.cu:57", "", 30, 20)],
    rows: Array.from({ length: 20000 }, (_, i) => `${" +-~"[i % 4]} FFMA R${i % 255}, R1, R2, R3  // <i>${i}`),
  };
  fs.writeFileSync(target, page.replace(/(id="data">)(.*?)(<\/script>)/s, (_all, start, text, end) => {
    const data = JSON.parse(text);
    data.cases.find(({ id }) => id === slower).machine_code = [kernel];
    return start + JSON.stringify(data).replaceAll("<", "\\u003c") + end;
  }));
  return target;
}

const opened = (file, options, use) => openedPage(browser, "#outcome", file, options, use);

const rows = (page) => page.locator("[role=row][data-row]");
const grid = (page) => page.getByRole("grid", { name: "Cases" });
const panel = (page) => page.locator("#case");
const rowOf = (page, id) => rows(page).filter({ has: page.locator(".id", { hasText: id }) });

async function idsShown(page) {
  return rows(page).locator(".id").allTextContents();
}

async function countIs(page, words) {
  await page.getByRole("status").filter({ hasText: new RegExp(`^${words}$`) }).waitFor();
}

async function focused(page) {
  return page.evaluate(() => document.activeElement?.id || document.activeElement?.getAttribute("role") || "");
}

/** Every row is in the page while it prints. */
async function allRows(page) {
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  const all = await rows(page).evaluateAll((list) =>
    list.map((row) => [...row.querySelectorAll("[role=gridcell]")].map((cell) => cell.textContent)),
  );
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  return all;
}

after(() => browser.close());

describe("a pull request with a regression", () => {
  const { file } = changed;

  test("says at once that it failed, and shows the worst first", () =>
    opened(file, {}, async (page) => {
      assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "Failed");
      const chips = page.getByRole("group", { name: "Show cases by verdict" });
      assert.match(await chips.textContent(), /1 incorrect.*1 regressed.*77 pass.*exit code 1/);
      assert.match(await page.title(), /^Failed: 77 pass, 1 incorrect/);
      assert.match(await page.locator(".summary").textContent(), /^1 case computes a wrong result; .*\.$/);
      assert.match(await rows(page).nth(0).textContent(), /incorrect/);
      assert.equal((await idsShown(page))[1], slower);
      assert.match(await rows(page).nth(1).textContent(), /regressed.*spills to local memory/);
    }));

  test("says what is compared and what to do next", () =>
    opened(file, {}, async (page) => {
      const facts = await page.locator("#overview > .facts").textContent();
      assert.match(facts, /revision4f2a9c1compared withthe same commit, of 20\d\d-\d\d-\d\d/);
      const commands = await page.locator(".commands code").allTextContents();
      assert.deepEqual(commands.map((line) => line.split(" ").slice(0, 3).join(" ")), ["perfgate run suites/gemm.yaml", "perfgate report after.json", "perfgate baseline accept"]);
      for (const line of commands) assert.ok(changed.console.replaceAll(/ \\\n\s+/g, " ").includes(line), line);
      // A click selects the whole of a command.
      await page.locator(".commands code").first().click();
      assert.equal(await page.evaluate(() => window.getSelection().toString()), commands[0]);
      const cut = await page.locator(".commands code").evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).length);
      assert.equal(cut, 0, "commands are shown whole");
    }));

  test("its table begins on the first screen, and the values that were judged are in sight", async () => {
    for (const [width, height] of [[420, 900], [1300, 850], [1440, 900], [2400, 1200]]) {
      const isFirst = async (page) => {
        const top = await grid(page).evaluate((element) => element.getBoundingClientRect().top);
        assert.ok(top < height - 40, `${width}: the table begins at ${top}`);
      };
      await opened(manySuites, { width, height }, isFirst);
      await opened(file, { width, height }, async (page) => {
        await isFirst(page);
        await page.getByLabel("Filter").fill("tiled k=2048");
        await rowOf(page, slower).click();
        const table = panel(page).locator(".metrics");
        const seen = await table.evaluate((element) => {
          const { left, right } = element.parentElement.getBoundingClientRect();
          return [...element.querySelectorAll("td, td *")].every((cell) => {
            const box = cell.getBoundingClientRect();
            return box.left >= left && box.right <= right && right <= window.innerWidth;
          });
        });
        assert.ok(seen, `${width}: change or verdict is cut off`);
        const cut = await panel(page).locator(".wide").evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).length);
        assert.ok(width < 1000 || cut === 0, `${width}: ${cut} tables are wider than their room`);
      });
    }
  });

  test("finds the regression and reads the reason", () =>
    opened(file, {}, async (page) => {
      await page.getByLabel("Filter").fill("TILED k=2048");
      await countIs(page, "1 of 81 cases");
      await rowOf(page, slower).click();
      const told = await panel(page).textContent();
      // The sentences are those of the console, to the letter.
      const sentences = changed.console
        .split("\n")
        .filter((line) => /^ {4}(gpu_time|registers|local_bytes) regressed|^ {4}(why|roofline): /.test(line))
        .map((line) => line.trim().replace(/^why: /, ""));
      assert.ok(sentences.length >= 5, changed.console);
      const ofCase = sentences.filter((sentence) => !sentence.includes("unexplained") && !sentence.includes("f16 matrix rate,"));
      for (const sentence of ofCase) assert.ok(told.includes(sentence), `${sentence}\n\n${told}`);
      assert.match(told, /Whyspills to local memory/);
      assert.doesNotMatch(told, /why: /);
    }));

  test("shows where the time of the slower case went, and its instructions when asked", () =>
    opened(withMachineCode(file), {}, async (page) => {
      await rowOf(page, slower).click();
      const code = panel(page).locator(".code-view");
      assert.equal(await code.locator("ol > li").count(), 2);
      assert.match(await code.locator("ol > li").first().textContent(), /^blend\.cu:58 {4}x \+= v < w \? v : w; \/\/ <b>&amp;2\.500 µs \(13 %\)30\.63 µs \(61 %\)/);
      // A line that takes longer has the longer bar, though its share is smaller.
      const widths = await code.locator("li > .share i").evaluateAll((bars) => bars.map((bar) => parseFloat(bar.style.width)));
      assert.deepEqual(widths, [5, 61.25, 12, 20], "the line with the most added time first");
      const size = page.viewportSize();
      await page.setViewportSize({ width: 240, height: size.height });
      assert.ok(await code.locator("code").first().evaluate((of) => of.scrollWidth <= of.clientWidth), "nobody scrolls it with a keyboard");
      await page.setViewportSize(size);
      // What is folded is what the line above it says.
      await code.getByText("What the warps waited for").first().click();
      assert.ok(await code.locator("ol ul li").first().isVisible());
      await assertAccessible(page);
      if (screenshots) await code.screenshot({ path: path.join(screenshots, "machine_code.png") });
      assert.equal(await code.locator("[data-mark]").count(), 0, "made when they are shown");
      await code.getByText("Difference of the instructions (20000 rows)").click();
      await code.locator("[data-mark]").first().waitFor({ state: "attached" });
      assert.equal(await code.locator("pre").first().locator('[data-mark="+"]').count(), 125);
      assert.equal(await code.locator("i:not(.share i), b:not(.share b)").count(), 0, "text is text");
    }));

  test("has few of 20,000 instructions in the page, wherever it is scrolled to", (t) => {
    const run = changedRun(source);
    findCase(run, slower).machine_code = { change: "LDG.E.64 6667 → 0, LDG.E 0 → 6667", time: "" };
    const since = (start) => `${Math.round(performance.now() - start)} ms`;
    let start = performance.now();
    const long = reportOf(folder, "listing", recordedRun(source), run, 1, longListing(slower, 20000));
    t.diagnostic(`report of 2 × 20,000 instructions: ${since(start)}, ${Math.round(fs.statSync(long.file).size / 1024)} KiB`);
    return opened(long.file, {}, async (page) => {
      const elements = () => page.evaluate(() => document.getElementsByTagName("*").length);
      const code = panel(page).locator(".code-view");
      await rowOf(page, slower).click();
      const without = await elements();
      start = performance.now();
      await code.getByText(/^Difference of the instructions \(\d+ rows\)$/).click();
      await code.locator("[data-mark]").first().waitFor();
      t.diagnostic(`its difference is open after ${since(start)}`);
      const list = code.getByRole("region", { name: "Instructions" });
      const parts = await list.locator("pre").count();
      assert.ok(parts > 40, `${parts} parts of 500 rows`);
      const heights = new Set();
      for (const to of [0, 0.5, 1]) {
        await list.evaluate((of, share) => of.scrollTo(0, share * of.scrollHeight), to);
        await list.locator("pre").nth(Math.floor(to * (parts - 1))).locator("[data-mark]").first().waitFor();
        await page.waitForFunction((most) => document.querySelectorAll("[data-mark]").length <= most, 2000);
        heights.add(await list.evaluate((of) => of.scrollHeight));
      }
      assert.ok((await elements()) - without < 5000, `${(await elements()) - without} elements more`);
      assert.match(await list.locator('[data-mark=" "]').first().textContent(), /^ {2}\S/, "in line with those that have a mark");
      assert.equal(heights.size, 1, "parts that are not made are as high as those that are");
      if (screenshots) await list.screenshot({ path: path.join(screenshots, "long_listing.png") });
    });
  });

  test("filters by verdict, tag and text, and says how many are left", () =>
    opened(file, {}, async (page) => {
      await countIs(page, "81 cases");
      await page.getByRole("button", { name: "1 improved" }).click();
      await countIs(page, "1 of 81 cases");
      assert.deepEqual(await idsShown(page), [faster]);
      await page.getByRole("button", { name: "1 error" }).click();
      await countIs(page, "2 of 81 cases");
      assert.equal(await page.getByRole("button", { name: "1 error" }).getAttribute("aria-pressed"), "true");
      await page.locator(".filter").getByRole("button", { name: "Show all" }).click();
      await countIs(page, "81 cases");
      await page.getByLabel("Tag").selectOption({ index: 1 });
      await page.getByRole("status").filter({ hasText: " of 81 cases" }).waitFor();
      await page.getByLabel("Filter").fill("no such case");
      await countIs(page, "0 of 81 cases");
      await page.getByText("No case matches.").waitFor();
      await page.keyboard.press("Escape");
      await countIs(page, "81 cases");
    }));

  test("sorts by each column, either way, and says so", () =>
    opened(file, {}, async (page) => {
      const head = (name) => page.getByRole("columnheader", { name });
      await head("Change").getByRole("button").click();
      assert.equal(await head("Change").getAttribute("aria-sort"), "descending");
      assert.equal((await idsShown(page))[0], slower);
      await head("Change").getByRole("button").click();
      assert.equal(await head("Change").getAttribute("aria-sort"), "ascending");
      assert.equal((await idsShown(page))[0], faster);
      await head("Case").getByRole("button").click();
      assert.match((await idsShown(page))[0], /^gemm\/cublas\[dtype=bf16,k=64,/, "numbers sort as numbers");
      await head("Baseline").getByRole("button").click();
      const cells = (await allRows(page)).map((row) => row[2]);
      const sizes = { ns: 1, "µs": 1e3, ms: 1e6 };
      const values = cells.filter((cell) => cell !== "").map((cell) => Number(cell.split(" ")[0]) * sizes[cell.split(" ")[1]]);
      assert.ok(values.length > 70);
      assert.deepEqual(values, [...values].sort((left, right) => right - left));
      assert.equal(cells.at(-1), "", "what has no value is last");
    }));

  test("is used with the keyboard alone", () =>
    opened(file, {}, async (page) => {
      await page.keyboard.press("ArrowDown");
      assert.equal(await focused(page), "grid", "from the start");
      await page.keyboard.press("/");
      assert.equal(await focused(page), "filter");
      await page.keyboard.type("tiled");
      await page.getByRole("status").filter({ hasText: " of 81 cases" }).waitFor();
      for (let i = 0; i < 10 && (await focused(page)) !== "grid"; ++i) await page.keyboard.press("Tab");
      assert.equal(await focused(page), "grid");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowUp");
      const active = await grid(page).getAttribute("aria-activedescendant");
      // The row with the focus shows it; rows may be drawn anew meanwhile.
      await page.waitForFunction((id) => {
        const row = document.getElementById(id);
        return row !== null && getComputedStyle(row).outlineStyle === "solid";
      }, active);
      const id = await page.locator(`#${active} .id`).textContent();
      await page.keyboard.press("Enter");
      assert.equal(await focused(page), "case-name");
      assert.equal(await panel(page).getByRole("heading", { level: 2 }).textContent(), id);
      await page.keyboard.press("Escape");
      assert.ok(await panel(page).isHidden());
      assert.equal(await focused(page), "grid");
      assert.equal(await page.locator(`#${active} .id`).textContent(), id, "where one was");
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      assert.match(await panel(page).textContent(), /^(\d+) of \1/);
    }));

  test("has an address for a case, a filter and an order", () =>
    opened(file, {}, async (page) => {
      await page.getByLabel("Filter").fill("naive");
      await page.getByRole("status").filter({ hasText: " of 81 cases" }).waitFor();
      await page.getByRole("columnheader", { name: "Case" }).getByRole("button").click();
      await rowOf(page, broken).click();
      const hash = await page.evaluate(() => window.location.hash);
      await opened(file, { hash }, async (other) => {
        assert.equal(await other.getByLabel("Filter").inputValue(), "naive");
        assert.equal(await panel(other).getByRole("heading", { level: 2 }).textContent(), broken);
        assert.equal(await other.getByRole("columnheader", { name: "Case" }).getAttribute("aria-sort"), "ascending");
        assert.deepEqual(await idsShown(other), await idsShown(page));
      });
      await page.goBack();
      assert.ok(await panel(page).isHidden());
    }));

  test("is not led astray by an address that makes no sense", () =>
    opened(file, { hash: "#case=%&sort=-none&verdict=,x&tag=__proto__&%E0%A4%A" }, async (page) => {
      await countIs(page, "0 of 81 cases");
      assert.ok(await panel(page).isHidden());
    }));

  test("has figures for both sides, and words for the charts", () =>
    opened(file, { hash: `#case=${encodeURIComponent(`gemm/${slower}`)}` }, async (page) => {
      const row = panel(page).getByRole("row", { name: /^registers/ });
      assert.match(await row.textContent(), /231.*255.*\+10\.4 %.*regressed/);
      // A time has the interval of its change, as in the gate's sentence.
      const time = panel(page).getByRole("row", { name: /^gpu_time/ });
      const interval = changed.console.match(/365\.1 µs → 430\.8 µs \(\+18\.0 %, (95 % interval \S+ % to \S+ %)\)/)[1];
      assert.ok(await time.getByText(interval, { exact: true }).isVisible(), interval);
      assert.equal(await row.getByText("interval").count(), 0, "a count has none");
      const spread = panel(page).getByRole("img", { name: /^Distribution of gpu_time/ });
      assert.match(await spread.getAttribute("aria-label"), /Baseline: 5 processes from .* This run: 5 processes from .* to .* µs\. The line/);
      assert.ok((await spread.locator("circle").count()) >= 5, "a mark for each process of the baseline");
      const roofline = panel(page).getByRole("img", { name: /^Roofline/ });
      assert.match(await roofline.getAttribute("aria-label"), /Now .*Before .*flop\/byte/);
      assert.match(await roofline.textContent(), /copy 2\.800 TB\/s/);
      assert.match(await roofline.textContent(), /f32 51\.00 Tflop\/s/);
    }));

  test("has a roofline of all cases, which leads to one", () =>
    opened(file, {}, async (page) => {
      await page.locator(".whole-roofline summary").click();
      const chart = page.locator(".roofline svg");
      assert.match(await chart.getAttribute("aria-label"), /^Roofline\. 79 cases/);
      const box = await chart.locator("g[aria-label=dot] path").last().boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      assert.equal(await panel(page).getByRole("heading", { level: 2 }).textContent(), slower);
    }));

  test("has the console's times", () =>
    opened(file, {}, async (page) => {
      const lines = changed.console.split("\n");
      // A row shows what decides its verdict; where that is no time, it is named.
      const shown = (await allRows(page)).filter(([, , before, , change]) => before !== "" && !/[a-z]/.test(change));
      assert.equal(shown.length, 78);
      for (const [, id, before, , change] of shown) {
        const name = id.slice(0, id.indexOf("]") + 1);
        const cells = lines.find((line) => line.includes(` ${name} `))?.split(/ {2,}/) ?? [];
        assert.ok(cells.includes(before) && cells.includes(change), `${before}, ${change} in ${cells.join("|")}`);
      }
    }));

  test("prints the cases, or the one that is open", () =>
    opened(file, {}, async (page) => {
      await page.evaluate(() => {
        window.rowsPrinted = 0;
        window.addEventListener("beforeprint", () => {
          window.rowsPrinted = document.querySelectorAll("[role=row][data-row]").length;
        });
      });
      const whole = await page.pdf({ format: "A4" });
      assert.equal(await page.evaluate(() => window.rowsPrinted), 81);
      assert.ok(pagesOf(whole) >= 2, `${pagesOf(whole)} pages`);
      await rowOf(page, slower).click();
      const one = await page.pdf({ format: "A4" });
      assert.ok(pagesOf(one) >= 1 && pagesOf(one) <= 4, `${pagesOf(one)} pages`);
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      assert.ok(await page.locator("main").isHidden());
      assert.ok(await page.locator(".bar").isHidden());
      assert.equal(await page.locator("#case-name").evaluate((node) => getComputedStyle(node).color), "rgb(26, 29, 35)", "ink on paper");
      if (screenshots) fs.writeFileSync(path.join(screenshots, "cases.pdf"), whole);
      if (screenshots) fs.writeFileSync(path.join(screenshots, "case.pdf"), one);
    }));

  test("is light or dark as the system is, or as one chooses", async () => {
    const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const seen = {};
    for (const scheme of ["light", "dark"]) {
      await opened(file, { scheme }, async (page) => {
        seen[scheme] = await background(page);
        await page.getByLabel("Theme").selectOption(scheme === "light" ? "dark" : "light");
        seen[`not ${scheme}`] = await background(page);
        await page.reload();
        assert.equal(await background(page), seen[`not ${scheme}`], "it is remembered");
      });
    }
    assert.notEqual(seen.light, seen.dark);
    assert.equal(seen["not light"], seen.dark);
    assert.equal(seen["not dark"], seen.light);
  });
});

function pagesOf(pdf) {
  return (pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) ?? []).length;
}

describe("people of all kinds", () => {
  for (const scheme of ["light", "dark"]) {
    for (const width of [390, 820, 1440]) {
      test(`${width} wide, ${scheme}: nothing is cut off or hard to read`, () =>
        opened(changed.file, { width, scheme }, async (page) => {
          const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
          const picture = async (name) => {
            if (screenshots) await page.screenshot({ path: path.join(screenshots, `${name}-${width}-${scheme}.png`) });
          };
          assert.ok(await fits());
          await picture("cases");
          await assertAccessible(page);
          await rowOf(page, slower).click();
          assert.ok(await fits());
          await picture("case");
          await assertAccessible(page);
          // Beside the cases where there is room, over them where there is none.
          assert.equal(await page.locator("main").evaluate((main) => main.inert), width < 1100);
          await page.getByRole("button", { name: "Close" }).click();
          assert.ok(await rows(page).first().isVisible());
        }));
    }
  }

  test("every verdict has a sign and a word of its own", () =>
    opened(everyVerdict, {}, async (page) => {
      const badges = await page.locator(".chip .badge").allTextContents();
      assert.equal(new Set(badges).size, badges.length, badges.join(" "));
      assert.equal(badges.length, 13);
      for (const row of await allRows(page)) assert.match(row[0], /^\S[a-z ]+$/);
      await assertAccessible(page);
      if (screenshots) await page.screenshot({ path: path.join(screenshots, "every-verdict.png"), fullPage: true });
    }));

  test("relations that are broken are open, and worst first, above a table on the first screen", () =>
    opened(everyVerdict, { width: 1300, height: 850 }, async (page) => {
      assert.ok((await grid(page).evaluate((element) => element.getBoundingClientRect().top)) < 750);
      const relations = page.locator(".relations li");
      assert.equal(await relations.count(), 4);
      assert.match(await relations.first().textContent(), /broken.*should be at most 55\.00 µs/);
      assert.ok(await relations.first().isVisible());
    }));
});

describe("5,000 cases with hostile names", () => {
  let hostile;
  before(() => {
    hostile = reportOf(folder, "hostile", hostileRun(source, false), hostileRun(source, true), 1);
  });

  test("are all there, few of them in the page at a time", () =>
    opened(hostile.file, {}, async (page) => {
      await countIs(page, `${hostileCount} cases`);
      assert.equal(await grid(page).getAttribute("aria-rowcount"), String(hostileCount + 1));
      for (const share of [0, 0.5, 1]) {
        // To a share of the table, below which the footer is.
        await grid(page).evaluate((table, by) => {
          const end = table.getBoundingClientRect().bottom + window.scrollY - window.innerHeight;
          window.scrollTo(0, Math.max(end, 0) * by);
        }, share);
        await page.waitForFunction(() => {
          const middle = document.elementFromPoint(300, window.innerHeight - 100);
          return middle?.closest("[data-row]") || window.scrollY === 0;
        });
        assert.ok((await rows(page).count()) < 100);
      }
      assert.equal(await rows(page).last().getAttribute("aria-rowindex"), String(hostileCount + 1));
    }));

  test("are text, wherever they stand", () =>
    opened(hostile.file, {}, async (page) => {
      await page.locator("summary", { hasText: "Environment" }).click();
      await page.locator(".whole-roofline summary").click();
      for (const [i, name] of names.entries()) {
        // Where the name is cut, its number is.
        const words = name.length > 300 ? name.slice(0, 40) : `n=${21 * names.length + i}`;
        await page.getByLabel("Filter").fill(words);
        await rowOf(page, words).first().click();
        const shown = await panel(page).getByRole("heading", { level: 2 }).textContent();
        if (name.length < 300 && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) {
          assert.ok(shown.startsWith(`${name}/${name}[`), `${name}: ${shown}`);
        }
        assert.doesNotMatch(shown, /[\u0000-\u001f\u202a-\u202e\u2066-\u2069]/u);
        const fits = await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
        assert.ok(fits, `${name.slice(0, 40)} makes the page wider than the screen`);
        await page.keyboard.press("Escape");
      }
      assert.equal(await page.evaluate(() => window.hit), undefined);
      // What the page itself makes, and nothing that a name made.
      const tags = await page.evaluate(() => [...new Set([...document.querySelectorAll("body *")].map((element) => element.localName))]);
      for (const tag of ["img", "b", "iframe", "object", "embed", "form", "a"]) assert.ok(!tags.includes(tag), tag);
      assert.equal(await page.evaluate(() => document.querySelectorAll("script").length), 3);
    }));

  test("fit a telephone, and are accessible there", () =>
    opened(hostile.file, { width: 390, height: 800 }, async (page) => {
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
      await assertAccessible(page);
      if (screenshots) await page.screenshot({ path: path.join(screenshots, "hostile-390.png") });
    }));

  test("print as many as anybody reads, and say how many are left out", () =>
    opened(hostile.file, {}, async (page) => {
      await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
      assert.equal(await rows(page).count(), 300);
      assert.match(await page.locator(".table .print-only").textContent(), /^4700 more cases are not printed/);
    }));

  test("a link leads to one of them", async () => {
    let hash = "";
    await opened(hostile.file, {}, async (page) => {
      await page.getByLabel("Filter").fill("n=12]");
      await countIs(page, `1 of ${hostileCount} cases`);
      await rows(page).first().click();
      hash = await page.evaluate(() => window.location.hash);
    });
    await opened(hostile.file, { hash }, async (page) => {
      assert.match(await panel(page).getByRole("heading", { level: 2 }).textContent(), /^#case=x&text=y\/.*n=12\]$/);
    });
  });
});
