// SPDX-License-Identifier: Apache-2.0
// Shows the first page of a history, or the case that the address names.
import "../base.css";
import "./history.css";
import { el } from "../dom";
import { themeSwitch } from "../theme";
import { casePage } from "./case_page";
import { parseHistory, type History } from "./document";
import { front } from "./front";

function start(history: History): void {
  const main = el("main", {});
  const byFile = new Map(history.cases.map((of, i) => [of.file, i]));
  let first = true;
  const open = () => {
    const file = window.location.hash.slice(1);
    const number = byFile.get(file);
    const unknown = file !== "" && number === undefined;
    main.replaceChildren(
      ...(unknown ? [el("p", { role: "alert" }, "This history has no such case: it was renamed, or its runs were removed.")] : []),
      number === undefined ? front(history) : casePage(history, number),
    );
    document.title = number === undefined ? "perfgate history" : `${history.cases[number]!.id} – perfgate history`;
    window.scrollTo(0, 0);
    if (!first) main.querySelector("h1")?.focus();
    first = false;
  };
  window.addEventListener("hashchange", open);
  document.body.append(el("header", {}, el("span", { class: "brand" }, "perfgate history"), themeSwitch()), el("div", { class: "page" }, main));
  open();
}

const data = document.getElementById("data")?.textContent ?? "";
if (data.trim().startsWith("{")) {
  start(parseHistory(data));
} else {
  document.body.append(el("p", {}, "This page has no data: perfgate history site writes it."));
}
