// Gold: who judges, what was called right, and how far judges agree.

import { get, judge } from "./api.js";
import { count, el, percent } from "./dom.js";

const called = (name) => name || "no name";
const names = (judges) => judges.map(called).join(", ");

export async function gold(facts, act) {
  const found = await get("judges", { page: facts.page });
  const others = found.of_page.filter((name) => name !== judge());
  return [
    el("h2", {}, "Gold"),
    el("p", {}, "Is this page judged right, with your corrections? Call it gold, to measure or to train dehusk with it."),
    el("label", { class: "judge" }, "Your name, if several people judge", ...nameField(found.judges, act)),
    el(
      "div",
      { class: "row" },
      el("button", { type: "button", class: facts.is_confirmed ? "button" : "button main", onclick: act.confirm }, facts.is_confirmed ? "Not gold" : "This page is right"),
      el("a", { class: "button", href: "/api/gold.jsonl", download: "gold.jsonl" }, "Export as JSON lines"),
      el("a", { class: "button", href: "/api/gold.zip", download: "gold-teco.zip" }, "Export with TECO marks"),
    ),
    others.length && !facts.is_confirmed
      ? el("p", {}, `${count(others.length, "other judge")} called this page right. You see what they say when you have, too.`)
      : null,
    ...(found.page ? onPage(found, act) : []),
    ...(found.all.all ? onAll(found.all) : []),
  ];
}

function nameField(known, act) {
  const field = el("input", { type: "text", id: "judge", list: "judges", maxlength: 40, autocomplete: "off", spellcheck: "false", value: judge() });
  field.addEventListener("change", () => act.judge(field.value));
  return [field, el("datalist", { id: "judges" }, ...known.filter(Boolean).map((name) => el("option", { value: name })))];
}

function onPage(found, act) {
  const { differences } = found.page;
  return [
    el("h2", {}, `Called right by ${names(found.of_page)}`),
    table(found.page),
    el("p", {}, differences.length ? "Where they differ. What most say counts; in a tie, it is content." : "They agree on all that is seen."),
    el("ol", { class: "regions" }, ...differences.map((one) => difference(one, act))),
  ];
}

const difference = (one, act) =>
  el(
    "li",
    { class: one.content.length >= one.template.length ? "content" : "template" },
    el(
      "button",
      { type: "button", onclick: () => act.node(one.node) },
      el("span", { class: "edge" }),
      el("span", { class: "text" }, one.text),
      el("span", { class: "score" }, `${one.content.length} : ${one.template.length}`),
      el("span", { class: "why" }, `content: ${names(one.content)}; template: ${names(one.template)}`),
    ),
  );

const MEANING =
  "Alike: the share of texts and images that are judged the same. Kappa: Cohen's of two judges, Fleiss' of all; 1 where they agree, 0 where as by chance.";

const onAll = (all) => [
  el("h2", {}, `Agreement on ${count(all.pages, "page")} that several judged`),
  table(all),
  el("p", {}, MEANING),
];

function table({ all, pairs }) {
  const head = ["Judges", "nodes", "alike", "kappa"].map((name) => el("th", { scope: "col" }, name));
  const rows = pairs.map((pair) => row(pair.judges.map(called).join(" – "), pair, ""));
  const more = all.judges.length > 2 ? [row(`All ${all.judges.length}`, all, "all")] : [];
  return el("table", { class: "agreement" }, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows, ...more));
}

const row = (name, { nodes, alike, kappa }, kind) =>
  el(
    "tr",
    { class: kind },
    el("th", { scope: "row" }, name),
    el("td", {}, String(nodes)),
    el("td", {}, percent(alike)),
    el("td", {}, kappa === null ? "–" : kappa.toFixed(2)),
  );
