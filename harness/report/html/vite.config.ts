// SPDX-License-Identifier: Apache-2.0
// One file for each page (`vite build --mode report`, `profile` or `history`): script and style stand in the page, and the page's policy names the script by its hash,
// so that no other runs, wherever it may come from.
import { createHash } from "node:crypto";
import fs from "node:fs";
import { defineConfig, type Plugin } from "vite";

/** The licences of the packages that are in the script, those that say the same told once. */
function licences(modules: readonly string[]): string {
  const packages = new Set(modules.flatMap((file) => file.match(/^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []));
  const byText = new Map<string, string[]>();
  for (const folder of [...packages].sort()) {
    const file = fs.readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
    if (!file) throw new Error(`${folder} has no licence`);
    const text = fs.readFileSync(`${folder}/${file}`, "utf8").trim();
    byText.set(text, [...(byText.get(text) ?? []), folder.replace(/^.*\/node_modules\//, "")]);
  }
  return [...byText].map(([text, names]) => `${names.join(", ")}:\n\n${text}`).join("\n\n\n").replaceAll("<", "‹");
}

function oneFile(name: string): Plugin {
  return {
    name: "perfgate-one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle[name];
      if (page?.type !== "asset") throw new Error("there is no page");
      let html = String(page.source);
      for (const [other, file] of Object.entries(bundle)) {
        if (other === name) continue;
        // "$" means nothing in a replacement that a function gives.
        if (file.type === "chunk") {
          const script = file.code.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
          const hash = createHash("sha256").update(script).digest("base64");
          html = html
            .replace(/<script type="module"[^>]*><\/script>/, "")
            .replace("</body>", () => `<script type="module">${script}</script>\n</body>`)
            .replace("@PERFGATE_LICENCES@", () => licences(file.moduleIds))
            .replace("script-src 'none'", `script-src 'sha256-${hash}'`);
        } else {
          html = html.replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${String(file.source).trim()}</style>`);
        }
        delete bundle[other];
      }
      if (/(?:src|href)="[./]/.test(html) || !html.includes("'sha256-")) throw new Error("the page is not whole");
      if (html.split("@PERFGATE_DATA@").length !== 2) throw new Error("the page has no one place for data");
      page.source = html;
    },
  };
}

export default defineConfig(({ mode }) => ({
  base: "./",
  plugins: [oneFile(`${mode}.html`)],
  build: {
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    emptyOutDir: false,
    rollupOptions: { input: `${mode}.html` },
  },
}));
