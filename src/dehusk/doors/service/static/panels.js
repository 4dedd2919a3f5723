// What is found about a page: why, Markdown, a comparison, the template, links, rules, its site.

import { get } from "./api.js";
import { NOT_KEPT, count, el, expectedF1, figure, percent, removedBySite } from "./dom.js";
import { gold } from "./judges.js";
import { rendered } from "./markdown.js";

export { site } from "./site.js";

const number = (score) => (score === null ? "–" : score.toFixed(2));

export function why(facts, act) {
  const figures = el(
    "div",
    { class: "figures" },
    figure(percent(facts.share), "template"),
    figure(String(facts.pages_seen), "pages seen"),
    figure(facts.type ?? "–", "type"),
    expectedF1(facts.confidence),
    removedBySite(facts.site_removed),
  );
  const list = el(
    "ol",
    { class: "regions" },
    ...facts.regions.map((region, place) =>
      el(
        "li",
        { class: region.label },
        el(
          "button",
          { type: "button", "aria-pressed": "false", "data-region": place, onclick: () => act.region(place) },
          el("span", { class: "edge" }),
          el("span", { class: "text", dir: "auto" }, region.text),
          el("span", { class: "score" }, number(region.score)),
          el("span", { class: "why" }, `${region.label === "template" ? "dropped" : "kept"}: ${region.reason}`),
          parts(region),
        ),
      ),
    ),
  );
  const how = "Choose a part to see it on the page and to correct it. Scores go from 0 (content) to 1 (template).";
  return facts.regions.length ? [figures, el("p", {}, how), list] : [figures, el("p", {}, without(facts))];
}

const without = (facts) =>
  facts.needs_render
    ? "This page is empty until its scripts run. Start the viewer with --render to run them."
    : "No visible text on this page.";

const parts = (region) =>
  region.page_score === null || region.site_score === null
    ? null
    : el("span", { class: "parts" }, `by the page ${number(region.page_score)} · by the site ${number(region.site_score)}`);

export function markdown(facts, act) {
  const empty = facts.regions.length ? "Nothing is left: all of this page is template." : without(facts);
  if (!facts.markdown) return [el("p", {}, empty), ...comments(facts)];
  const isRaw = sessionStorage.getItem("markdown") !== "rendered";
  const choose = (name) => () => {
    sessionStorage.setItem("markdown", name);
    act.again();
  };
  const choice = (name, words, isChosen) =>
    el("button", { type: "button", id: `markdown-${name}`, "aria-pressed": isChosen, onclick: choose(name) }, words);
  return [
    el("div", { class: "choices", role: "group", "aria-label": "Markdown" }, choice("raw", "Raw", isRaw), choice("rendered", "Rendered", !isRaw)),
    isRaw ? el("pre", { dir: "auto" }, facts.markdown) : rendered(facts.markdown),
    ...comments(facts),
  ];
}

const comments = (facts) => (facts.comments ? [el("h2", {}, "Comments of readers, which are kept apart"), el("pre", { dir: "auto" }, facts.comments)] : []);

export async function compare(facts) {
  const answer = await get("peer", { page: facts.page });
  if (answer.text === null) {
    return [el("p", {}, "trafilatura is not installed. To see it here:"), el("pre", {}, "pip install trafilatura")];
  }
  const [own, other] = [answer.own, answer.text].map((text) => text.split("\n").filter((line) => line.trim()));
  return [
    el("p", {}, "Marked: lines that only one of the two has."),
    el("div", { class: "columns" }, column("dehusk", own, other), column(answer.name, other, own)),
  ];
}

function column(name, lines, others) {
  const bare = (line) => line.replace(/[\W_]+/gu, "").toLowerCase();
  const known = bare(others.join(""));
  const marked = lines.map((line) =>
    el("div", { dir: "auto" }, el("span", { class: known.includes(bare(line)) ? "" : "only" }, line)),
  );
  return el("div", {}, el("h2", {}, name), el("div", { class: "prose" }, ...marked));
}

const MAX_HTML = 60000;

export async function template(facts) {
  const answer = await get("template", { page: facts.page });
  const slots = answer.slots.map((slot) =>
    el(
      "li",
      {},
      el("b", {}, slot.name),
      el("code", {}, slot.css || "text beside template"),
      el("span", { class: "value", dir: "auto" }, slot.examples[0]?.value ?? ""),
    ),
  );
  return [
    el("p", {}, `${count(answer.slots.length, "slot")}, found on ${count(answer.pages, "page")} of the family. Slots are the places that content fills.`),
    el("ul", { class: "slots" }, ...slots),
    el("h2", {}, "HTML"),
    el("pre", {}, answer.html.length > MAX_HTML ? `${answer.html.slice(0, MAX_HTML)}\n…` : answer.html),
  ];
}

export async function links(facts) {
  const graph = await get("graph", { page: facts.page });
  const words = `${graph.message[0].toUpperCase()}${graph.message.slice(1)}. Only pages in this list are used; nothing is loaded from the web.`;
  if (graph.pages < 2) return [el("p", {}, words)];
  const picture = new DOMParser().parseFromString(graph.svg, "image/svg+xml").documentElement;
  return [el("p", {}, words), document.importNode(picture, true), graph.voters ? el("p", {}, LEGEND) : null];
}

const LEGEND =
  "In the middle: this page. Around it: pages that all link to each other, which the method hyperlink would compare. Outside: other pages that this one links to.";

export async function rules(facts, act) {
  const kept = act.isKept
    ? "Rules are saved in the memory and apply to every page of the site."
    : NOT_KEPT;
  const list = facts.rules.map((rule) => item(rule, () => act.removeRule(rule)));
  const own = facts.corrections.map((one) => item(one, () => act.undo(one)));
  return [
    el("h2", {}, `Rules of ${facts.site}`),
    list.length ? el("ul", { class: "rules" }, ...list) : el("p", {}, "None yet. Click a text on the page to keep or drop it."),
    el("p", {}, kept),
    ...(own.length ? [el("h2", {}, "On this page only"), el("ul", { class: "rules" }, ...own)] : []),
    ...(await gold(facts, act)),
  ];
}

function item(rule, undo) {
  return el(
    "li",
    {},
    el("span", { class: "tag" }, rule.action),
    el("code", {}, rule.selector),
    el("button", { type: "button", class: "button small", onclick: undo, "aria-label": `Remove the rule ${rule.action} ${rule.selector}` }, "Remove"),
  );
}
