// What the buttons do. Everything is asked of the service on this machine; nothing else is contacted.

import { api, judgementOf, keepScores, whereIs } from "./list.js";

const SCRIPTS = ["page.js", "judge.js", "links.js", "run.js"];
const VIEWS = ["page", "content", "template"];
const WORDS = { page: "The page as it was", content: "Content only", template: "Template only" };
const USUAL = {
  service: "http://127.0.0.1:8100",
  token: "",
  // How a template is extracted: where pages come from (browser, session, service), n, votes, and loads at most.
  source: "browser",
  size: 3,
  votes: 2,
  maxLoads: 10,
  isBenchOpen: false,
};

export class NoService extends Error {}

export const settings = () => api.storage.local.get(USUAL);
export const keep = (given) => api.storage.local.set(given);

// The answer of the service. Where it comes in lines, each is handed on, and the last is the answer.
export async function ask(path, body, { signal, onLine } = {}) {
  const { service, token } = await settings();
  const headers = { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  let answer;
  try {
    answer = await fetch(service + path, body ? { method: "POST", headers, signal, body: JSON.stringify(body) } : { headers });
  } catch {
    throw new NoService(`No dehusk answers at ${service}`);
  }
  const inLines = answer.headers.get("Content-Type")?.includes("ndjson");
  const given = await (inLines ? lastLine(answer, onLine) : answer.json()).catch(() => {
    throw new Error(`What answers at ${service} is not dehusk, or broke off`);
  });
  if (!answer.ok || given.error) throw new Error(refusal(answer, given));
  return given;
}

function refusal(answer, given) {
  if (given.error?.code === "no_fetch") return "This dehusk fetches no pages: start it with dehusk serve --fetch, or let this browser fetch them";
  if (answer.status === 404) return "This dehusk is too old: it does not know what is asked";
  return given.error?.message ?? answer.statusText;
}

async function lastLine(answer, onLine) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let last = null;
  for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines.filter(Boolean)) onLine?.((last = JSON.parse(line)));
  }
  return rest ? JSON.parse(rest) : last;
}

export const health = () => ask("/health");

// Runs in the page, beside its scripts and unseen by them. What it gives is JSON.
async function inPage(tab, run, given = null) {
  const target = { tabId: tab };
  await api.scripting.executeScript({ target, files: SCRIPTS });
  const [{ result }] = await api.scripting.executeScript({ target, func: run, args: [given] });
  return result;
}

const collect = (tab) => inPage(tab, () => globalThis.dehusk.collect());
const style = (tab) => api.scripting.insertCSS({ target: { tabId: tab }, files: ["page.css"] });

// Starts to extract the template; `run` tells how far it is. The page itself does it, so that it goes on without a popup.
export async function extract(tab) {
  const { source, size, votes, maxLoads } = await settings();
  await style(tab);
  const places = await placesOf(tab);
  return inPage(tab, (given) => globalThis.dehusk.extract(given), { source, size, votes, maxLoads, places });
}

export const stop = (tab) => inPage(tab, () => globalThis.dehusk.stop());

// How far the extraction is in a page; null where there is none, or the page is not to be looked into.
export async function run(tab) {
  const look = { target: { tabId: tab }, func: () => globalThis.dehusk?.run?.() ?? null };
  const [{ result }] = await api.scripting.executeScript(look).catch(() => [{ result: null }]);
  return result;
}

export async function openTemplate(tab) {
  const found = (await inPage(tab, () => globalThis.dehusk.found())) ?? (await ask("/v1/marks", await collect(tab)));
  const words = found.message ?? `after ${pages(found.pages_seen)}`;
  await api.storage.session.set({ template: { html: found.template, url: found.url, site: found.site, words } });
  await api.tabs.create({ url: api.runtime.getURL("template.html") });
  return `The template of ${found.site}, ${words}`;
}

export async function toggleView(tab) {
  const now = await inPage(tab, () => globalThis.dehusk.view());
  const next = VIEWS[(VIEWS.indexOf(now) + 1) % VIEWS.length];
  let words = WORDS[next];
  if (now === "page") {
    const extracted = await inPage(tab, () => globalThis.dehusk.found() && globalThis.dehusk.applyFound());
    const marks = extracted || (await ask("/v1/marks", await collect(tab)));
    await style(tab);
    if (!extracted) await inPage(tab, (given) => globalThis.dehusk.apply(given), { elements: marks.elements, texts: marks.texts });
    const after = extracted ? "" : `, after ${pages(marks.pages_seen)}`;
    words += `: ${Math.round(marks.template_share * 100)} % was template${after}`;
  }
  await inPage(tab, (view) => globalThis.dehusk.show(view), next);
  return words;
}

export async function markdownOf(tab) {
  const found = await inPage(tab, () => globalThis.dehusk.found());
  return (found ?? (await ask("/v1/marks", await collect(tab)))).markdown;
}

// Where a tab is; empty where a page is not to be looked into.
export async function urlOf(tab) {
  const look = { target: { tabId: tab }, func: () => location.href };
  const [{ result }] = await api.scripting.executeScript(look).catch(() => [{ result: "" }]);
  return result;
}

const placesOf = async (tab) => (await judgementOf(await urlOf(tab)))?.places ?? null;

// Opens or closes the panel in which a page is judged.
export async function judge(tab) {
  const url = await urlOf(tab);
  await api.scripting.insertCSS({ target: { tabId: tab }, files: ["judge.css"], origin: "USER" });
  const given = { places: (await judgementOf(url))?.places ?? null, where: await whereIs(url) };
  const isOpen = await inPage(tab, (known) => globalThis.dehusk.judge(known), given);
  return isOpen ? "Click in the page what is not template" : "What was marked is kept";
}

// Precision, recall and F1 on a page with marks, those of TECO or of a judge.
export async function checkBenchmark(tab) {
  const places = await placesOf(tab);
  return check(await inPage(tab, (known) => globalThis.dehusk.collectJudged(known), places));
}

export async function check(page) {
  const found = await ask("/v1/benchmark", page);
  await keepScores(page.url, found.method, found.template);
  return found;
}

const pages = (count) => `${count} page${count === 1 ? "" : "s"} of the site`;
