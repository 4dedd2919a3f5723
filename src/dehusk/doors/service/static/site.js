// A site as a whole: before and after, and the questions whose answers would mend most.

import { get } from "./api.js";
import { NOT_KEPT, count, el, expectedF1, figure, percent } from "./dom.js";

const NUMBERS = new Intl.NumberFormat("en");
const skipped = new Set();

export async function site(facts, act) {
  let found = await get("site", { site: facts.site });
  // A site of thousands of pages takes a while: it is looked at bit by bit.
  while (found.looked < found.pages) {
    if (!act.tell(`Working … ${NUMBERS.format(found.looked)} of ${count(found.pages, "page")}`)) return [];
    found = await get("site", { site: facts.site });
  }
  return [
    el(
      "div",
      { class: "figures" },
      figure(NUMBERS.format(found.words_before), "words before"),
      figure(NUMBERS.format(found.words_after), "after"),
      figure(NUMBERS.format(found.tokens_saved), "tokens saved"),
      expectedF1(found.confidence),
      found.mostly_removed ? figure(NUMBERS.format(found.mostly_removed), "lost much", "Pages that keep less than half of what they say alone.") : null,
    ),
    bars(found),
    el("p", {}, `${count(found.pages, "page")} of ${facts.site}; ${percent(found.share)} of the text is template. Tokens are characters / 4.`),
    act.isCut ? el("p", {}, "The source has more pages than were read. Start the viewer with --pages N to read more.") : null,
    ...questions(found, facts, act),
    ...unsure(found, act),
  ];
}

function bars({ words_before: before, words_after: after }) {
  const bar = (value) => el("progress", { max: Math.max(1, before), value });
  return el("div", { class: "bars", "aria-hidden": "true" }, bar(before), bar(after));
}

function questions(found, facts, act) {
  const key = (one) => `${facts.site} ${one.selector}`;
  const left = found.questions.filter((one) => !skipped.has(key(one)));
  const skip = (one) => () => {
    skipped.add(key(one));
    act.again();
  };
  const none = found.questions.length ? "You have skipped all of them." : "None: nothing that pages share is in doubt.";
  const some = "Is this content (keep) or template (drop)? Your answer becomes a rule for every page of the site.";
  return [
    el("h2", {}, "Questions"),
    el("p", {}, left.length ? [some, act.isKept ? "" : NOT_KEPT].join(" ") : none),
    el("ol", { class: "questions" }, ...left.map((one) => question(one, skip(one), act))),
  ];
}

function question(one, skip, act) {
  const answer = (action, words) =>
    el("button", { type: "button", class: "button small", onclick: () => act.answer(action, one.selector), "aria-label": `${words} ${one.selector}` }, words);
  const judged = `On ${count(one.pages, "page")}: kept on ${one.kept_pages}, dropped on ${one.pages - one.kept_pages}. Score ${one.score.toFixed(2)}.`;
  return el(
    "li",
    {},
    el("code", {}, one.selector),
    el("p", {}, judged),
    ...one.examples.map((example) => el("blockquote", { dir: "auto" }, example.text)),
    el(
      "div",
      { class: "row" },
      answer("keep", "Keep"),
      answer("drop", "Drop"),
      el("button", { type: "button", class: "button small", onclick: skip, "aria-label": `Skip ${one.selector}` }, "Skip"),
    ),
  );
}

function unsure(found, act) {
  if (!found.unsure_pages.length) return [];
  const score = (page) => `${page.confidence?.toFixed(2) ?? "–"} · ${percent(page.site_removed)}`;
  const row = (page) =>
    el("li", {}, el("button", { type: "button", onclick: () => act.open(page.page) }, el("span", { class: "text", dir: "auto" }, page.title ?? page.url ?? "Untitled"), el("span", { class: "score" }, score(page))));
  return [el("h2", {}, "Pages to look at, with their expected F1 and what the site took away"), el("ol", { class: "unsure" }, ...found.unsure_pages.map(row))];
}
