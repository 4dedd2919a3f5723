// The list of pages to be judged, and the judgements. They are kept in this browser until they are cleared.
//
//   pages        [{ url, type }], in the order in which they are gone through
//   judge        who judges
//   judged ADDR  { url, type, title, judge, time, places, scores } of a page of the list: where each mark stands,
//                [mark, path, tag]; by method, { precision, recall, f1 }
//   html ADDR    the page with TECO's marks
//   linked ADDR  [{ url, html }]: pages that this browser has loaded for a page of the list
//   sizes        of what is kept under each of the last two kinds of keys, in characters

export const api = globalThis.browser ?? globalThis.chrome;
const JUDGED = "judged ";
const HTML = "html ";
const LINKED = "linked ";
const MAX_KEPT = 100_000_000; // Characters: an export has them all in memory.

// One change after another, whichever page of the extension makes it: each reads what the one before has written.
const inTurn = (act) => navigator.locks.request("list", act);

// What tells pages apart: not the scheme, `www.`, a slash at the end, or a fragment.
export function addressOf(url) {
  if (!URL.canParse(url)) return url;
  const { host, pathname, search } = new URL(url);
  return host.replace(/^www\./, "") + pathname.replace(/\/$/, "") + search;
}

export async function listed() {
  const { pages, judge } = await api.storage.local.get({ pages: [], judge: "" });
  return { pages, judge };
}

const placeOf = (pages, url) => pages.findIndex((page) => addressOf(page.url) === addressOf(url));

export async function whereIs(url) {
  const { pages } = await listed();
  const place = placeOf(pages, url);
  return place < 0 ? "" : `${place + 1} of ${pages.length}`;
}

// Adds pages that are not there yet; gives how many.
export const addPages = (added) => inTurn(() => append(added));

async function append(added) {
  const { pages } = await listed();
  const before = pages.length;
  for (const page of added) if (placeOf(pages, page.url) < 0) pages.push(page);
  await api.storage.local.set({ pages });
  return pages.length - before;
}

const keysOf = (url) => [JUDGED, HTML, LINKED].map((kind) => kind + addressOf(url));

async function forget(keys) {
  const { sizes } = await api.storage.local.get({ sizes: {} });
  for (const key of keys) delete sizes[key];
  await api.storage.local.set({ sizes });
  await api.storage.local.remove(keys);
}

export const removePage = (url) => inTurn(async () => {
  const { pages } = await listed();
  await api.storage.local.set({ pages: pages.filter((page) => addressOf(page.url) !== addressOf(url)) });
  await forget(keysOf(url));
});

export const clearAll = () => inTurn(async () => {
  const { pages } = await listed();
  await forget(pages.flatMap(({ url }) => keysOf(url)));
  await api.storage.local.remove("pages");
});

async function kept(kind, url) {
  const key = kind + addressOf(url);
  return (await api.storage.local.get(key))[key] ?? null;
}

export const judgementOf = (url) => kept(JUDGED, url);
export const htmlOf = (url) => kept(HTML, url);

async function keptOfAll(kind) {
  const keys = (await listed()).pages.map(({ url }) => kind + addressOf(url));
  const found = await api.storage.local.get(keys);
  return keys.map((key) => found[key]).filter(Boolean);
}

// What was judged, without the pages themselves; and with them.
export const judgements = () => keptOfAll(JUDGED);
export const judgedPages = async () => Promise.all((await judgements()).map(async (one) => ({ ...one, html: (await htmlOf(one.url)) ?? "" })));
export const linkedPages = async () => (await keptOfAll(LINKED)).flat();
export const isOfList = (key) => key === "pages" || key === "judge" || key.startsWith(JUDGED);

// Keeps what is large, unless there is too much of it.
async function keepLarge(key, value, size, facts = {}) {
  const { sizes } = await api.storage.local.get({ sizes: {} });
  sizes[key] = size;
  const all = Object.values(sizes).reduce((sum, one) => sum + one, 0);
  if (all > MAX_KEPT) throw new Error(`Not kept: the list is full (${MAX_KEPT / 1e6} MB). Export it, then remove pages`);
  await api.storage.local.set({ ...facts, [key]: value, sizes });
}

export const keepLinked = ({ url, pages: linked }) => inTurn(async () => {
  if (placeOf((await listed()).pages, url) < 0) return;
  const pages = linked.map(({ url: place, html }) => ({ url: place, html }));
  await keepLarge(LINKED + addressOf(url), pages, pages.reduce((sum, { html }) => sum + html.length, 0));
});

// A page that is judged is in the list from then on; one whose marks are all taken back is not judged.
export const keepJudgement = ({ url, title, html, places }) => inTurn(async () => {
  const [judged, text] = keysOf(url);
  if (!places.length) return forget([judged, text]);
  await append([{ url, type: "" }]);
  const { pages, judge } = await listed();
  const { type } = pages[placeOf(pages, url)];
  const time = new Date().toISOString();
  return keepLarge(text, html, html.length, { [judged]: { url, type, title, judge, time, places, scores: {} } });
});

export const keepScores = (url, method, { precision, recall, f1 }) => inTurn(async () => {
  const judgement = await judgementOf(url);
  if (!judgement) return;
  judgement.scores[method] = { precision, recall, f1 };
  await api.storage.local.set({ [JUDGED + addressOf(url)]: judgement });
});

// Opens the page after or before this one in its tab; the first or last one where this is not in the list.
export async function step(tab, url, by) {
  const { pages } = await listed();
  if (!pages.length) throw new Error("The list is empty");
  const place = placeOf(pages, url);
  const next = place < 0 ? (by > 0 ? 0 : pages.length - 1) : place + by;
  if (!pages[next]) throw new Error(by > 0 ? "This is the last page of the list" : "This is the first page of the list");
  await api.tabs.update(tab, { url: pages[next].url });
  return `${next + 1} of ${pages.length}`;
}
