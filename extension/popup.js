// The buttons, how far an extraction is, and what to do where no service answers.

import {
  NoService, checkBenchmark, extract, health, judge, keep, markdownOf, openTemplate, run, settings, stop, toggleView, urlOf,
} from "./actions.js";
import { api, step, whereIs } from "./list.js";

const byId = (id) => document.getElementById(id);
const made = (tag, text, className = "") => Object.assign(document.createElement(tag), { textContent: text, className });

// Opened as a page of its own, it is told which tab is meant.
async function tab() {
  const given = new URLSearchParams(location.search).get("tab");
  if (given) return Number(given);
  const [active] = await api.tabs.query({ active: true, currentWindow: true });
  return active.id;
}

const say = (words) => {
  byId("words").textContent = words;
};

async function copyMarkdown(id) {
  const markdown = await markdownOf(id);
  await navigator.clipboard.writeText(markdown);
  return `${markdown.length.toLocaleString()} characters of Markdown copied`;
}

async function check(id) {
  const found = await checkBenchmark(id);
  showScores(found.template);
  return `Template nodes, by ${found.method}`;
}

function showScores(score) {
  const names = { precision: "Precision", recall: "Recall", f1: "F1" };
  byId("scores").replaceChildren(
    ...Object.entries(names).map(([key, name]) => {
      const box = document.createElement("div");
      box.append(made("dt", name), made("dd", score[key].toFixed(3)));
      return box;
    }),
  );
  byId("scores").hidden = false;
}

async function judgePage(id) {
  const words = await judge(id);
  // The page is clicked next: a popup would be in its way.
  if (!new URLSearchParams(location.search).has("tab")) close();
  return words;
}

async function openList() {
  await api.tabs.create({ url: api.runtime.getURL("benchmark.html") });
  return "";
}

const go = (by) => async (id) => `Opening page ${await step(id, await urlOf(id), by)} of the list; judge it when it is there`;

async function press(button, act) {
  byId("scores").hidden = true;
  byId("missing").hidden = true;
  button.setAttribute("aria-busy", "true");
  say("…");
  try {
    const words = await act(await tab());
    if (words) say(words);
  } catch (fault) {
    if (fault instanceof NoService) await missing();
    else say(fault.message);
  } finally {
    button.removeAttribute("aria-busy");
  }
}

async function missing() {
  say("");
  byId("where").textContent = (await settings()).service;
  byId("missing").hidden = false;
}

// What a state of a page is called, and its sign.
const STATES = { loading: ["…", "loading"], loaded: ["○", "loaded"], voted: ["●", "voted"], replaced: ["◌", "replaced"], failed: ["×", "failed"] };

function showRun(now) {
  byId("run").hidden = !now;
  if (!now) return;
  const isRunning = now.state === "running";
  byId("stop").hidden = !isRunning;
  byId("extract").toggleAttribute("disabled", isRunning);
  byId("loads").replaceChildren(...now.loads.map(loadItem));
  if (now.isMissing) missing();
  else say(runWords(now));
  if (now.answer?.benchmark) showScores(now.answer.benchmark.template);
}

function loadItem({ url, state, reason }) {
  const [sign, word] = STATES[state] ?? ["○", state];
  const item = made("li", "", state);
  const path = url.replace(/^[a-z]+:\/\/[^/]*/i, "");
  const [mark, address, verdict] = [made("span", sign, "sign"), made("span", path, "address"), made("span", reason ?? word, "state")];
  mark.setAttribute("aria-hidden", "true");
  address.title = url;
  item.append(mark, address, verdict);
  return item;
}

function runWords({ state, fault, loads, answer, notKept, maxLoads, size, votes }) {
  if (state === "running") return `Looking for ${size} pages that link to each other (${votes} votes needed). Loading page ${loads.length + 1} of at most ${maxLoads}.`;
  if (state === "failed") return fault;
  const share = `${Math.round(answer.share * 100)} % of the page is template`;
  return `${answer.message[0].toUpperCase()}${answer.message.slice(1)}. ${share}.${notKept ? ` ${notKept}.` : ""}`;
}

async function startRun(id) {
  showRun(await extract(id));
}

async function greet() {
  byId("missing").hidden = true;
  try {
    const { method, fetch: isFetching } = await health();
    byId("unfetched").hidden = Boolean(isFetching);
    say(`Connected to dehusk (method ${method})`);
  } catch (fault) {
    if (fault instanceof NoService) await missing();
    else say(fault.message);
  }
}

const ACTS = { extract: startRun, stop, toggle: toggleView, template: openTemplate, markdown: copyMarkdown, judge: judgePage, benchmark: check, list: openList, back: go(-1), next: go(1) };
for (const [id, act] of Object.entries(ACTS)) byId(id).addEventListener("click", (event) => press(event.currentTarget, act));
byId("again").addEventListener("click", greet);

const kept = await settings();
for (const id of ["service", "token", "size", "votes", "maxLoads"]) byId(id).value = kept[id];
byId("bench").open = kept.isBenchOpen;
byId("bench").addEventListener("toggle", () => keep({ isBenchOpen: byId("bench").open }));
for (const option of document.getElementsByName("source")) {
  option.checked = option.value === kept.source;
  option.addEventListener("change", () => keep({ source: option.value }));
}
byId("service").addEventListener("change", () => keep({ service: byId("service").value.replace(/\/+$/, "") }).then(greet));
byId("token").addEventListener("change", () => keep({ token: byId("token").value }).then(greet));

// Numbers stay within their bounds, and votes within the pages that can vote.
function keepNumbers() {
  const given = {};
  for (const id of ["size", "votes", "maxLoads"]) {
    const { min, max, defaultValue, value } = byId(id);
    given[id] = Math.min(Math.max(Math.round(Number(value)) || Number(defaultValue) || Number(min), Number(min)), Number(max));
  }
  given.votes = Math.min(given.votes, given.size);
  for (const [id, number] of Object.entries(given)) byId(id).value = number;
  return keep(given);
}
for (const id of ["size", "votes", "maxLoads"]) byId(id).addEventListener("change", keepNumbers);

const mine = await tab();
api.runtime.onMessage.addListener((message, sender) => {
  if (message.run && sender.tab?.id === mine) showRun(message.run);
});
await greet();
byId("where-listed").textContent = await whereIs(await urlOf(mine));
const now = await run(mine);
if (now) showRun(now);
