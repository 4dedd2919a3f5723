// What the buttons do. Everything is asked of the service on this machine; nothing else is contacted.

export const api = globalThis.browser ?? globalThis.chrome;
const USUAL = "http://127.0.0.1:8100";
const VIEWS = ["page", "content", "template"];

export class NoService extends Error {}

export async function settings() {
  const { service, token } = await api.storage.local.get({ service: USUAL, token: "" });
  return { service, token };
}

export const keep = (given) => api.storage.local.set(given);

async function ask(path, page) {
  const { service, token } = await settings();
  const headers = { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  let answer;
  try {
    answer = await fetch(service + path, page ? { method: "POST", headers, body: JSON.stringify(page) } : { headers });
  } catch {
    throw new NoService("no service");
  }
  const body = await answer.json().catch(() => {
    throw new Error(`What answers at ${service} is not dehusk`);
  });
  if (!answer.ok) throw new Error(body.error?.message ?? answer.statusText);
  return body;
}

export const health = () => ask("/health");

async function inPage(tab, run, given = null) {
  const target = { tabId: tab };
  await api.scripting.executeScript({ target, files: ["page.js"] });
  const [{ result }] = await api.scripting.executeScript({ target, func: run, args: [given] });
  return result;
}

const collect = (tab) => inPage(tab, () => globalThis.dehusk.collect());

export async function extractTemplate(tab) {
  const marks = await ask("/v1/marks", await collect(tab));
  await api.storage.session.set({ template: { html: marks.template, url: marks.url, site: marks.site, pages: marks.pages_seen } });
  await api.tabs.create({ url: api.runtime.getURL("template.html") });
  return `The template of ${marks.site}, from ${pages(marks.pages_seen)}`;
}

export async function toggleView(tab) {
  const now = await inPage(tab, () => globalThis.dehusk.view());
  const next = VIEWS[(VIEWS.indexOf(now) + 1) % VIEWS.length];
  let words = "The page as it was";
  if (now === "page") {
    const marks = await ask("/v1/marks", await collect(tab));
    await api.scripting.insertCSS({ target: { tabId: tab }, files: ["page.css"] });
    await inPage(tab, (given) => globalThis.dehusk.apply(given), { elements: marks.elements, texts: marks.texts });
    words = `Content only: ${Math.round(marks.template_share * 100)} % was template, after ${pages(marks.pages_seen)}`;
  } else if (next === "template") {
    words = "Template only";
  }
  await inPage(tab, (view) => globalThis.dehusk.show(view), next);
  return words;
}

export async function markdownOf(tab) {
  const marks = await ask("/v1/marks", await collect(tab));
  return marks.markdown;
}

export async function checkBenchmark(tab) {
  return ask("/v1/benchmark", await collect(tab));
}

const pages = (count) => `${count} page${count === 1 ? "" : "s"} of the site`;
