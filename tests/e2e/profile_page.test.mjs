// SPDX-License-Identifier: Apache-2.0
// The page of `perfgate profile --html` in Chromium, opened from disk, from recordings that the
// mocks of driver and CUPTI make.
//
// PERFGATE_SCREENSHOTS=DIR keeps pictures of it, at two widths, light and dark.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, describe, test } from "node:test";

import { assertAccessible, build, launch, openedPage, requirePage, skip, temporaryFolder, tool } from "./html_report/pages.mjs";

const program = path.join(build, "bin", "mock_program");
if (!fs.existsSync(program)) skip("built without CUDA's headers: programs cannot be recorded");
const folder = temporaryFolder();
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
const browser = await launch();
requirePage(folder);
after(() => browser.close());
const screenshots = process.env.PERFGATE_SCREENSHOTS;

const kernelNs = 5000;
const mocks = { LD_LIBRARY_PATH: path.join(build, "tests", "inject", "mocks"), MOCK_WORK_NS: String(kernelNs) };

function recorded(name, words, options = [], code = 0) {
  const file = path.join(folder, `${name}.html`);
  tool(folder, ["profile", ...options, "--report", `html:${file}`, "--report", `${name}.json`, "--", program, ...words], code, mocks);
  return file;
}

const step = [
  ...["push", "training step", "push", "forward", "kernels", "4", "_Z16flash_fwd_kernelPf", "kernels", "2", "gemm", "pop"],
  ...["copy", "65536", "memset", "4096", "sync", "pop", "sleep", "2"],
];
const steps = Array.from({ length: 5 }, () => step).flat();
const training = recorded("training", steps);
const several = recorded("several", ["push", "outer", "kernels", "3", "of_parent", "pop", "forkexec", "kernels"]);

const opened = (file, options, use) => openedPage(browser, ".timeline .lanes[data-view]", file, options, use);
const lanes = (page) => page.getByRole("group", { name: "Timeline" });
const tooltip = (page) => page.locator(".tooltip");
const held = (page) => page.locator(".selection");

async function view(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const [begin, end] = (await lanes(page).getAttribute("data-view")).split("-").map(Number);
  return { begin, end };
}

/** The middle of a row of the drawing, by its label, and which of the rows below it. */
async function rowOf(page, label, depth = 0) {
  const plot = await page.locator(".plot").boundingBox();
  const row = await page.locator(".labels .track", { hasText: label }).first().boundingBox();
  return { left: plot.x, width: plot.width, y: row.y + 9 + depth * 18 };
}

const search = async (page, words) => {
  await page.getByLabel("Find").fill(words);
  await page.waitForFunction((told) => document.querySelector("[role=status]").textContent !== told, "\0");
  await page.waitForTimeout(150);
};

const cells = (page) =>
  page.locator("#table tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));

describe("a training program", () => {
  test("has figures, advice, a row for each stream and thread, and tables", () =>
    opened(training, {}, async (page) => {
      const figures = await page.locator(".figures").textContent();
      assert.match(figures, /GPU busy\d+\.\d %.*Underfilled\d+\.\d %.*Kernels3030 under 10 µs.*Copies5320\.0 KiB, 5 pageable, \d+\.\d % beside kernels.*Synchronisations5/);
      assert.ok((await page.locator(".advice li").count()) >= 1);
      assert.deepEqual(await page.locator(".labels .track").allTextContents(), ["stream 7", "NVTX ranges", "CUDA calls"]);
      assert.match((await page.locator(".labels .head").allTextContents()).join(), /^GPU 0 Mock GPU,Thread \d+$/);
      assert.deepEqual((await cells(page)).map((row) => [row[0], row[1], row[3]]), [
        ["flash_fwd_kernel(float*)", "100.0 µs", "20"],
        ["gemm", "50.00 µs", "10"],
      ]);
      await page.getByRole("tab", { name: /^NVTX ranges/ }).click();
      assert.deepEqual((await cells(page)).map((row) => [row[0], row[2], row[6], row[7]]), [
        ["training step", "5", "30", "5"],
        ["forward", "5", "30", "0"],
      ]);
      for (const [tab, first] of [["Copies", "host to device"], ["CUDA calls", /^cu/], ["Waits", "cuCtxSynchronize"], ["Longest gaps", /ms|µs/]]) {
        await page.getByRole("tab", { name: new RegExp(`^${tab}`) }).click();
        assert.match((await cells(page))[0][0], new RegExp(first));
      }
    }));

  test("is drawn: the stream has the colours of its kernels", () =>
    opened(training, {}, async (page) => {
      await search(page, "flash");
      await page.getByLabel("Find").press("Enter");
      await view(page);
      const colours = await page.evaluate(() => {
        const plot = document.querySelector(".plot");
        const pixels = plot.getContext("2d").getImageData(0, 0, plot.width, plot.height).data;
        const seen = new Set();
        for (let i = 0; i < pixels.length; i += 4) {
          const [red, green, blue] = pixels.slice(i, i + 3);
          if (pixels[i + 3] === 255) seen.add(`#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`);
        }
        return { seen: [...seen], first: getComputedStyle(document.documentElement).getPropertyValue("--kernel-0").trim() };
      });
      assert.ok(colours.seen.includes(colours.first), `${colours.first} in ${colours.seen}`);
    }));

  test("says of what is under the pointer what it is", () =>
    opened(training, {}, async (page) => {
      await search(page, "flash");
      await page.getByLabel("Find").press("Enter");
      const told = await held(page).textContent();
      assert.match(told, /^flash_fwd_kernel\(float\*\)takes5\.000 µsbegins at.*launched.* before.*grid8×1×1block128×1×1registers\d+.*in rangeforward.*onGPU 0 Mock GPU, stream 7/);
      await held(page).getByRole("button", { name: "Zoom to it" }).click();
      await view(page);
      const { left, width, y } = await rowOf(page, "stream 7");
      await page.mouse.move(left + width / 2, y);
      assert.match(await tooltip(page).textContent(), /^flash_fwd_kernel\(float\*\)takes5\.000 µs/);
      await page.mouse.move(left + width / 2, y + 400);
      assert.ok(await tooltip(page).isHidden());
    }));

  test("nests ranges, and tells of a range what the GPU did for it", () =>
    opened(training, {}, async (page) => {
      await search(page, "forward");
      await page.getByLabel("Find").press("Enter");
      assert.match(await held(page).textContent(), /^forwardtakes.*GPU time30\.00 µskernels6on/);
      await held(page).getByRole("button", { name: "Zoom to it" }).click();
      await view(page);
      const { left, width, y } = await rowOf(page, "NVTX ranges", 0);
      await page.mouse.move(left + width / 2, y);
      assert.match(await tooltip(page).textContent(), /^training step/);
      await page.mouse.move(left + width / 2, y + 18);
      assert.match(await tooltip(page).textContent(), /^forward/);
    }));

  test("zooms and moves, by wheel, keys, buttons and pointer, and stays within the recording", () =>
    opened(training, {}, async (page) => {
      await page.getByRole("button", { name: "All of the recording" }).click();
      const all = await view(page);
      assert.equal(all.begin, 0);
      const { left, width, y } = await rowOf(page, "stream 7");
      await page.mouse.move(left + width / 4, y);
      await page.keyboard.down("Control");
      await page.mouse.wheel(0, -500);
      await page.keyboard.up("Control");
      const closer = await view(page);
      const span = ({ begin, end }) => end - begin;
      assert.ok(span(closer) < span(all) * 0.6);
      const under = (seen) => seen.begin + span(seen) / 4;
      assert.ok(Math.abs(under(closer) - under(all)) < span(all) / 100, "the time under the pointer stays");

      await page.mouse.down();
      await page.mouse.move(left + width / 2, y, { steps: 4 });
      await page.mouse.up();
      const dragged = await view(page);
      assert.ok(dragged.begin < closer.begin);
      assert.ok(Math.abs(span(dragged) - span(closer)) <= 2);

      await lanes(page).focus();
      await page.keyboard.press("ArrowRight");
      assert.ok((await view(page)).begin > dragged.begin);
      await page.keyboard.press("0");
      assert.deepEqual(await view(page), all);
      await page.keyboard.press("-");
      await page.keyboard.press("ArrowLeft");
      assert.deepEqual(await view(page), all);
      await page.getByRole("button", { name: "Zoom in" }).click();
      assert.ok(span(await view(page)) < span(all));
      for (let i = 0; i < 60; ++i) await page.keyboard.press("Enter");
      assert.ok(span(await view(page)) >= 50, "times are whole nanoseconds");
      await page.getByRole("button", { name: "All of the recording" }).click();

      await page.keyboard.down("Shift");
      await page.mouse.move(left + width / 4, y);
      await page.mouse.down();
      await page.mouse.move(left + width / 2, y, { steps: 4 });
      await page.mouse.up();
      await page.keyboard.up("Shift");
      const part = await view(page);
      assert.ok(Math.abs(span(part) - span(all) / 4) < span(all) / 50);
      assert.ok(Math.abs(part.begin - span(all) / 4) < span(all) / 50);
    }));

  test("finds by name, in the timeline and in the tables", () =>
    opened(training, {}, async (page) => {
      await page.keyboard.press("/");
      await page.keyboard.type("FLASH");
      await page.getByRole("status").filter({ hasText: /^20 events$/ }).waitFor();
      assert.deepEqual((await cells(page)).map((row) => row[0]), ["flash_fwd_kernel(float*)"]);
      // Four in each step. Those of one step may begin at the same time, as it is written; steps are 2 ms apart.
      const begins = [];
      for (let i = 0; i < 20; ++i) {
        await page.getByRole("button", { name: "Next event" }).click();
        begins.push(/begins at([\d.]+ \S?s)/.exec(await held(page).textContent())[1]);
      }
      assert.ok(new Set(begins).size >= 5, begins.join());
      for (let i = 0; i < 4; ++i) await page.getByRole("button", { name: "Previous event" }).click();
      assert.notEqual(begins[15], begins[19]);
      assert.ok((await held(page).textContent()).includes(begins[15]));
      await search(page, "nothing has this name");
      assert.equal(await page.getByRole("status").textContent(), "0 events");
      await page.getByText("No row has these words.").waitFor();
      assert.ok(await page.getByRole("button", { name: "Next event" }).isDisabled());
      await page.getByLabel("Find").press("Escape");
      assert.equal((await cells(page)).length, 2);
      await page.getByRole("button", { name: "gemm" }).click();
      assert.equal(await page.getByRole("status").textContent(), "10 events");
    }));

  test("sorts tables, and leads from a gap to its place", () =>
    opened(training, {}, async (page) => {
      await page.getByRole("columnheader", { name: "Launches" }).getByRole("button").click();
      assert.equal(await page.getByRole("columnheader", { name: "Launches" }).getAttribute("aria-sort"), "descending");
      await page.getByRole("columnheader", { name: "Launches" }).getByRole("button").click();
      assert.deepEqual((await cells(page)).map((row) => row[3]), ["10", "20"]);
      await page.getByRole("tab", { name: /^Longest gaps/ }).click();
      await page.getByRole("button", { name: "All of the recording" }).click();
      const all = await view(page);
      // The shortest of them: on a busy machine the longest can be nearly all of the recording.
      await page.locator("#table tbody .find").last().click();
      const gap = await view(page);
      assert.ok(gap.end - gap.begin < all.end - all.begin);
    }));
});

describe("what is not there", () => {
  test("processes have a page each, in one file", () =>
    opened(several, {}, async (page) => {
      assert.equal(await page.getByLabel("Process").locator("option").count(), 2);
      const names = [(await cells(page))[0][0]];
      await page.getByLabel("Process").selectOption("1");
      names.push((await cells(page))[0][0]);
      assert.deepEqual(names.sort(), ["of_child", "of_parent"]);
    }));

  test("an incomplete recording says so first", () =>
    opened(recorded("cut", [...steps, "push", "open", "kernels", "1", "last", "crash"], [], 3), {}, async (page) => {
      assert.match(await page.locator(".incomplete").textContent(), /not complete.*no end/);
      await assertAccessible(page);
    }));

  test("without API calls, nothing claims to have counted them", () =>
    opened(recorded("records", steps, ["--level", "records"]), {}, async (page) => {
      assert.match(await page.locator(".figures").textContent(), /Synchronisations–not recorded/);
      await page.getByRole("tab", { name: /^CUDA calls/ }).click();
      await page.getByText("Nothing of this kind is on record.").waitFor();
    }));

  test("a long recording is bounded and says what is merged", () =>
    opened(recorded("long", ["push", "all", "kernels", "120000", "same", "pop"]), {}, async (page) => {
      assert.match(await page.locator(".notes").textContent(), /one by one, those longer than .* merged into paler blocks.*--capture/);
      assert.ok(fs.statSync(path.join(folder, "long.html")).size < 8e6);
      const { left, width, y } = await rowOf(page, "stream 7");
      const told = [];
      for (let i = 1; i < 30; ++i) {
        await page.mouse.move(left + (width * i) / 30, y);
        told.push(await tooltip(page).textContent());
      }
      assert.ok(told.some((words) => /^\d+ shorter events in one block.*the longestsame/.test(words)), told.join("\n"));
      await search(page, "same");
      assert.match(await page.getByRole("status").textContent(), /^[\d,]+ events or blocks$/);
    }));
});

describe("where the timeline begins", () => {
  /** The page with other shares of the time in which the GPU was busy, in per mille of 600 pieces. */
  function withBusy(name, busy) {
    const file = path.join(folder, `busy_${name}.html`);
    const pieces = JSON.stringify(Array.from({ length: 600 }, (_, piece) => busy(piece)));
    fs.writeFileSync(file, fs.readFileSync(training, "utf8").replace(/"busy":\[[\d,]*\]/, `"busy":${pieces}`));
    return file;
  }
  const shares = async (page) => {
    const part = await view(page);
    await lanes(page).focus();
    await page.keyboard.press("0");
    const all = await view(page);
    assert.equal(all.begin, 0);
    return [part.begin, part.end].map((time) => Math.round((1000 * time) / all.end));
  };

  test("mostly idle: at the part with the most work, with a margin", () => {
    const busy = (piece) => (piece === 3 || piece > 590 ? 5 : piece >= 300 && piece < 360 && piece !== 310 ? 200 : 0);
    return opened(withBusy("once", busy), {}, async (page) => assert.deepEqual(await shares(page), [495, 605]));
  });

  for (const [name, busy] of [
    ["at all of a device that works", (piece) => (piece < 200 ? 900 : 0)],
    ["at all of it where the work has no long gaps", (piece) => (piece % 10 === 0 ? 50 : 0)],
    ["at all of it where nothing worked", () => 0],
  ]) {
    test(name, () => opened(withBusy(name.replaceAll(" ", "_"), busy), {}, async (page) => assert.deepEqual(await shares(page), [0, 1000])));
  }
});

test("hostile names are text", async () => {
  const hostile = ["</script><script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "a\u202eb\u2028c\nd", "__proto__", "'\"`${window.hit=1}", "n".repeat(5000)];
  const words = hostile.flatMap((name) => ["push", name, "kernels", "2", name, "pop"]);
  await opened(recorded("hostile", words), {}, async (page) => {
    for (const name of hostile.slice(0, 2)) {
      await search(page, name);
      await page.getByRole("button", { name: "Next event" }).click();
      assert.ok((await held(page).textContent()).includes(name));
    }
    await search(page, "");
    for (const tab of await page.getByRole("tab").all()) await tab.click();
    const { left, width, y } = await rowOf(page, "stream 7");
    for (let i = 1; i < 40; ++i) await page.mouse.move(left + (width * i) / 40, y);
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.evaluate(() => document.querySelectorAll("script").length), 2);
    assert.equal(await page.evaluate(() => document.querySelectorAll("img, iframe, object, a").length), 0);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    assert.doesNotMatch(await page.locator("body").textContent(), /[\u202a-\u202e\u2028\u2029]/u);
  });
});

for (const scheme of ["light", "dark"]) {
  for (const width of [390, 1440]) {
    test(`${width} wide, ${scheme}: nothing is cut off or hard to read`, () =>
      opened(training, { width, scheme }, async (page) => {
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
        await assertAccessible(page);
        await search(page, "flash");
        await page.getByLabel("Find").press("Enter");
        await assertAccessible(page);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
        if (screenshots) await page.screenshot({ path: path.join(screenshots, `profile-${width}-${scheme}.png`), fullPage: true });
      }));
  }
}

test("the theme can be chosen, and the drawing follows", () =>
  opened(training, { scheme: "light" }, async (page) => {
    const colour = () => page.evaluate(() => document.querySelector(".overview").toDataURL());
    await view(page);
    const light = await colour();
    await page.getByLabel("Theme").selectOption("dark");
    await view(page);
    assert.notEqual(await colour(), light);
  }));
