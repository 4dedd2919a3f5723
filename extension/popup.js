// The four buttons, and what to do where no service answers.

import { NoService, api, checkBenchmark, extractTemplate, health, keep, markdownOf, settings, toggleView } from "./actions.js";

const byId = (id) => document.getElementById(id);

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

async function showScores(id) {
  const found = await checkBenchmark(id);
  const names = { precision: "Precision", recall: "Recall", f1: "F1" };
  byId("scores").replaceChildren(
    ...Object.entries(names).map(([key, name]) => {
      const [box, term, value] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
      term.textContent = name;
      value.textContent = found.template[key].toFixed(3);
      box.append(term, value);
      return box;
    }),
  );
  byId("scores").hidden = false;
  return `Template nodes, by ${found.method}`;
}

async function press(button, act) {
  byId("scores").hidden = true;
  byId("missing").hidden = true;
  button.setAttribute("aria-busy", "true");
  say("…");
  try {
    say(await act(await tab()));
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

async function greet() {
  byId("missing").hidden = true;
  try {
    const { method } = await health();
    say(`dehusk is here (${method})`);
  } catch (fault) {
    if (fault instanceof NoService) await missing();
    else say(fault.message);
  }
}

const ACTS = { template: extractTemplate, toggle: toggleView, markdown: copyMarkdown, benchmark: showScores };
for (const [id, act] of Object.entries(ACTS)) byId(id).addEventListener("click", (event) => press(event.currentTarget, act));
byId("again").addEventListener("click", greet);

const { service, token } = await settings();
byId("service").value = service;
byId("token").value = token;
byId("service").addEventListener("change", () => keep({ service: byId("service").value.replace(/\/+$/, "") }).then(greet));
byId("token").addEventListener("change", () => keep({ token: byId("token").value }).then(greet));
await greet();
