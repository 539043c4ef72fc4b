// SPDX-License-Identifier: Apache-2.0
// Writes dist/report.html, dist/profile.html and dist/history.html. Each is one file: script and style stand in the page, and its policy
// names the script by its hash, so that no other runs, wherever it may come from.
import { createHash } from "node:crypto";
import fs from "node:fs";
import { build } from "esbuild";

/** The licences of the packages that are in the script, those that say the same told once. */
function licences(modules) {
  const packages = new Set(modules.flatMap((file) => file.match(/^node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []));
  const byText = new Map();
  for (const folder of [...packages].sort()) {
    const file = fs.readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
    if (!file) throw new Error(`${folder} has no licence`);
    const text = fs.readFileSync(`${folder}/${file}`, "utf8").trim();
    byText.set(text, [...(byText.get(text) ?? []), folder.replace("node_modules/", "")]);
  }
  return [...byText].map(([text, names]) => `${names.join(", ")}:\n\n${text}`).join("\n\n\n").replaceAll("<", "‹");
}

async function writePage(page) {
  let html = fs.readFileSync(page, "utf8");
  const reference = /<script type="module" src="(.*?)"><\/script>\n/;
  const { outputFiles, metafile } = await build({
    entryPoints: [reference.exec(html)[1]], bundle: true, minify: true, format: "esm", target: "es2022",
    charset: "utf8", legalComments: "none", write: false, metafile: true, outdir: "dist",
  });
  const textOf = (ending) => outputFiles.find((file) => file.path.endsWith(ending)).text.trim();
  const script = textOf(".js").replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  const used = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs));
  // "$" means nothing in a replacement that a function gives.
  html = html
    .replace(reference, () => `<style>${textOf(".css")}</style>\n`)
    .replace("</body>", () => `<script type="module">${script}</script>\n</body>`)
    .replace("@PERFGATE_LICENCES@", () => licences(used))
    .replace("script-src 'none'", `script-src 'sha256-${createHash("sha256").update(script).digest("base64")}'`);
  if (/(?:src|href)="[./]/.test(html) || !html.includes("'sha256-")) throw new Error("the page is not whole");
  if (html.split("@PERFGATE_DATA@").length !== 2) throw new Error("the page has no one place for data");
  fs.mkdirSync("dist", { recursive: true });
  fs.writeFileSync(`dist/${page}`, html);
}

for (const page of ["report.html", "profile.html", "history.html"]) await writePage(page);
