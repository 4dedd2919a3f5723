// What is found about a page: why, Markdown, a comparison, the template, links, rules, its site.

import { get } from "./api.js";
import { count, el, figure, percent } from "./dom.js";
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
    figure(facts.confidence === null ? "–" : number(facts.confidence), "F1 expected"),
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
          el("span", { class: "text" }, region.text),
          el("span", { class: "score", title: "0 content … 1 template" }, number(region.score)),
          el("span", { class: "why" }, `${region.label === "template" ? "dropped" : "kept"}: ${region.reason}`),
          parts(region),
        ),
      ),
    ),
  );
  return [figures, facts.regions.length ? list : el("p", {}, "No visible text on this page.")];
}

const parts = (region) =>
  region.page_score === null || region.site_score === null
    ? null
    : el("span", { class: "parts" }, `page ${number(region.page_score)} · site ${number(region.site_score)}`);

export function markdown(facts, act) {
  const empty = facts.regions.length ? "Nothing is left: all of it is template." : "No visible text on this page.";
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
    isRaw ? el("pre", {}, facts.markdown) : rendered(facts.markdown),
    ...comments(facts),
  ];
}

const comments = (facts) => (facts.comments ? [el("h3", {}, "Comments, apart"), el("pre", {}, facts.comments)] : []);

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
    el("div", {}, el("span", { class: known.includes(bare(line)) ? "" : "only" }, line)),
  );
  return el("div", {}, el("h3", {}, name), el("div", { class: "prose" }, ...marked));
}

export async function template(facts) {
  const answer = await get("template", { page: facts.page });
  const slots = answer.slots.map((slot) =>
    el(
      "li",
      {},
      el("b", {}, slot.name),
      el("code", {}, slot.css || "text beside template"),
      el("span", { class: "value" }, slot.examples[0]?.value ?? ""),
    ),
  );
  return [
    el("p", {}, `${count(answer.slots.length, "slot")}, found on ${count(answer.pages, "page")} of the family.`),
    el("ul", { class: "slots" }, ...slots),
    el("h3", {}, "HTML"),
    el("pre", {}, answer.html.slice(0, 60000)),
  ];
}

export async function links(facts) {
  const graph = await get("graph", { page: facts.page });
  const words = `${graph.message[0].toUpperCase()}${graph.message.slice(1)}.`;
  const picture = new DOMParser().parseFromString(graph.svg, "image/svg+xml").documentElement;
  return [el("p", {}, words), document.importNode(picture, true), graph.voters ? el("p", {}, LEGEND) : null];
}

const LEGEND =
  "In the middle this page; around it the pages that all link each other, by which the method hyperlink judges; outside, others that it links.";

export async function rules(facts, act) {
  const kept = act.isKept
    ? "They are kept in the memory, and every page of the site obeys them."
    : "They last as long as this viewer. Start it with --memory FILE to keep them.";
  const list = facts.rules.map((rule) => item(rule, () => act.removeRule(rule)));
  const own = facts.corrections.map((one) => item(one, () => act.undo(one)));
  return [
    el("h3", {}, `Rules of ${facts.site}`),
    list.length ? el("ul", { class: "rules" }, ...list) : el("p", {}, "None yet. Click a text on the page to keep or drop it."),
    el("p", {}, kept),
    ...(own.length ? [el("h3", {}, "On this page only"), el("ul", { class: "rules" }, ...own)] : []),
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
