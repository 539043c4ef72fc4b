// SPDX-License-Identifier: Apache-2.0
// Creates elements from values. Text becomes only text nodes: nothing in a document is treated as
// markup.

type Child = Node | string | null | false;
type Attributes = Record<string, string | number | boolean | null | ((event: never) => void)>;

export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(key, value as EventListener);
    } else if (value !== null && value !== false) {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  for (const child of children) if (child !== null && child !== false) element.append(child);
  return element;
}

/** An untrusted name: its text direction does not affect the surrounding text. */
export function name(text: string, attributes: Attributes = {}): HTMLElement {
  return el("bdi", attributes, text);
}

/** Names and their values. */
export function facts(rows: readonly (readonly [string, string])[], attributes: Attributes = { class: "facts" }): HTMLElement {
  return el("dl", attributes, ...rows.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", {}, name(value)))));
}

export function debounced(wait: number, action: () => void): () => void {
  let timer = 0;
  return () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(action, wait);
  };
}
