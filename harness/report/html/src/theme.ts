// SPDX-License-Identifier: Apache-2.0
// Light, dark, or the system setting.
import { el } from "./dom";

const themes = ["auto", "light", "dark"] as const;
type Theme = (typeof themes)[number];
const key = "perfgate-theme";

/** A page opened from disk may have no storage; then the choice lasts as long as the page. */
function stored(): Theme {
  try {
    const found = window.localStorage.getItem(key);
    return themes.find((theme) => theme === found) ?? "auto";
  } catch {
    return "auto";
  }
}

function store(theme: Theme): void {
  try {
    window.localStorage.setItem(key, theme);
  } catch {
    // See stored().
  }
}

export function themeSwitch(): HTMLElement {
  const choice = el("select", { id: "theme", "aria-label": "Theme" }, ...themes.map((theme) => el("option", { value: theme }, theme)));
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const apply = (theme: Theme) => {
    choice.value = theme;
    document.documentElement.dataset["theme"] = theme === "auto" ? (system.matches ? "dark" : "light") : theme;
  };
  system.addEventListener("change", () => {
    if (choice.value === "auto") apply("auto");
  });
  choice.addEventListener("change", () => {
    const theme = themes.find((known) => known === choice.value) ?? "auto";
    apply(theme);
    store(theme);
  });
  apply(stored());
  return el("label", { class: "theme" }, "Theme ", choice);
}
