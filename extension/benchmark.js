// The list of pages to be judged: filled, gone through, exported, cleared.

import { UTF8, fileOf, filesOf, linesOf, zip } from "./gold.js";
import { addPages, addressOf, api, clearAll, htmlOf, isOfList, judgedPages, judgements, linkedPages, listed, removePage } from "./list.js";

const byId = (id) => document.getElementById(id);
const made = (tag, text, facts = {}) => Object.assign(document.createElement(tag), { textContent: text }, facts);
const say = (words) => {
  byId("words").textContent = words;
};
const count = (number, thing) => `${number} ${thing}${number === 1 ? "" : "s"}`;

// The pages that a text names: addresses, JSON, JSON lines, or an export. Throws where it cannot be read.
function pagesIn(text) {
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
    found = lines.map((line) => (line.startsWith("{") ? JSON.parse(line) : line));
  }
  const pages = Array.isArray(found) ? found : [found];
  return pages.map((page) => (typeof page === "string" ? { url: page } : page)).map(pageOf);
}

function pageOf({ url, type }) {
  const given = URL.canParse(url) ? url : `https:${String(url).startsWith("//") ? "" : "//"}${url}`;
  if (!url || !URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) throw new Error(`Not the address of a web page: ${String(url).slice(0, 80)}`);
  return { url: new URL(given).href, type: String(type ?? "").slice(0, 80) };
}

async function add(text) {
  try {
    const added = await addPages(pagesIn(text));
    byId("urls").value = "";
    say(`${count(added, "page")} added`);
  } catch (fault) {
    say(fault instanceof SyntaxError ? `Not JSON: ${fault.message}` : fault.message);
  }
}

async function show() {
  const { pages, judge } = await listed();
  const known = new Map((await judgements()).map((judgement) => [addressOf(judgement.url), judgement]));
  if (document.activeElement !== byId("judge")) byId("judge").value = judge;
  byId("pages").tBodies[0].replaceChildren(...pages.map((page, place) => row(page, place, known.get(addressOf(page.url)))), ...means([...known.values()]));
  byId("pages").hidden = !pages.length;
  byId("none").hidden = pages.length > 0;
  for (const id of ["json", "folder"]) byId(id).disabled = !known.size;
  byId("clear").disabled = !pages.length;
}

function row({ url, type }, place, judgement) {
  const line = document.createElement("tr");
  const address = made("td", "");
  address.append(made("a", url, { href: url, target: "_blank", rel: "noreferrer" }));
  const acts = made("td", "", { className: "acts" });
  if (judgement) acts.append(button("Save HTML", `Save ${url} with its marks`, async () => save(new Blob([UTF8, await htmlOf(url)], { type: "text/html" }), fileOf(url).replaceAll("/", "_"))));
  acts.append(button("Remove", `Remove ${url}`, () => removePage(url)));
  line.append(made("td", String(place + 1)), address, made("td", type), made("td", judgedWords(judgement)), made("td", scoreWords(judgement?.scores ?? {})), acts);
  return line;
}

function judgedWords(judgement) {
  if (!judgement) return "";
  const main = judgement.places.filter(([mark]) => mark === "mainContent").length;
  const parts = [count(judgement.places.length - main, "mark"), main ? `${main} main` : "", judgement.judge && `by ${judgement.judge}`];
  return parts.filter(Boolean).join(", ");
}

const scoreWords = (scores) => Object.entries(scores).map(([method, { precision, recall, f1 }]) => `${method} ${f1.toFixed(3)} (P ${precision.toFixed(2)}, R ${recall.toFixed(2)})`).join(" · ");

// The means of each method over the pages that it was checked on.
function means(known) {
  const methods = [...new Set(known.flatMap(({ scores }) => Object.keys(scores)))];
  return methods.map((method) => {
    const scores = known.map((judgement) => judgement.scores[method]).filter(Boolean);
    const mean = Object.fromEntries(["precision", "recall", "f1"].map((name) => [name, scores.reduce((sum, score) => sum + score[name], 0) / scores.length]));
    const line = made("tr", "", { className: "mean" });
    line.append(made("td", ""), made("td", `Mean of ${count(scores.length, "page")}`), made("td", ""), made("td", ""), made("td", scoreWords({ [method]: mean })), made("td", ""));
    return line;
  });
}

function button(words, label, act) {
  const found = made("button", words, { type: "button" });
  found.setAttribute("aria-label", label);
  found.addEventListener("click", act);
  return found;
}

function save(blob, name) {
  const link = made("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

async function exportJson() {
  const [{ judge }, known] = [await listed(), await judgedPages()];
  const text = linesOf(known.map((one) => ({ ...one, judge: one.judge || judge })));
  save(new Blob([text], { type: "application/x-ndjson" }), "judgements.jsonl");
  say(`${count(known.length, "judgement")} exported`);
}

async function exportFolder() {
  const known = await judgedPages();
  save(zip(filesOf(known, await linkedPages())), "teco.zip");
  say(`${count(known.length, "page")} exported: unpack it, and measure with dehusk bench teco`);
}

byId("add").addEventListener("click", () => add(byId("urls").value));
byId("file").addEventListener("change", async ({ target }) => {
  if (target.files[0]) await add(await target.files[0].text());
  target.value = "";
});
byId("judge").addEventListener("change", () => api.storage.local.set({ judge: byId("judge").value.trim() }));
byId("json").addEventListener("click", exportJson);
byId("folder").addEventListener("click", exportFolder);
byId("clear").addEventListener("click", () => byId("sure").showModal());
byId("sure").addEventListener("close", async () => {
  if (byId("sure").returnValue !== "yes") return;
  await clearAll();
  say("All is removed");
});
api.storage.onChanged.addListener((changes) => {
  if (Object.keys(changes).some(isOfList)) show();
});
await show();
