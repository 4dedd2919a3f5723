// The list of pages to be judged, and the judgements. They are kept in this browser until they are cleared.
//
//   pages        [{ url, type }], in the order in which they are gone through
//   judge        who judges
//   judged ADDR  { url, type, title, judge, time, html, places, scores }: the page with TECO's marks; where
//                each mark stands, [mark, path, tag]; by method, { precision, recall, f1 }
//   linked ADDR  [{ url, html }]: pages that this browser has loaded for a page of the list

export const api = globalThis.browser ?? globalThis.chrome;
const JUDGED = "judged ";
const LINKED = "linked ";

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
export async function addPages(added) {
  const { pages } = await listed();
  const before = pages.length;
  for (const page of added) if (placeOf(pages, page.url) < 0) pages.push(page);
  await api.storage.local.set({ pages });
  return pages.length - before;
}

export async function removePage(url) {
  const { pages } = await listed();
  await api.storage.local.set({ pages: pages.filter((page) => addressOf(page.url) !== addressOf(url)) });
  await api.storage.local.remove([JUDGED + addressOf(url), LINKED + addressOf(url)]);
}

export async function judgementOf(url) {
  const key = JUDGED + addressOf(url);
  return (await api.storage.local.get(key))[key] ?? null;
}

async function kept(kind) {
  const all = await api.storage.local.get(null);
  return Object.keys(all).filter((key) => key.startsWith(kind)).map((key) => all[key]);
}

export const judgements = () => kept(JUDGED);
export const linkedPages = async () => (await kept(LINKED)).flat();

// One change after another: each reads what the one before has written.
let queue = Promise.resolve();
const inTurn = (act) => (queue = queue.then(act, act));

export const keepJudgement = (judgement) => inTurn(() => writeJudgement(judgement));
export const keepScores = (url, method, score) => inTurn(() => writeScores(url, method, score));

export async function keepLinked({ url, pages }) {
  if (placeOf((await listed()).pages, url) < 0) return;
  await api.storage.local.set({ [LINKED + addressOf(url)]: pages.map(({ url: place, html }) => ({ url: place, html })) });
}

// A page that is judged is in the list from then on; one whose marks are all taken back is not judged.
async function writeJudgement({ url, title, html, places }) {
  const key = JUDGED + addressOf(url);
  if (!places.length) return api.storage.local.remove(key);
  await addPages([{ url, type: "" }]);
  const { pages, judge } = await listed();
  const { type } = pages[placeOf(pages, url)];
  const time = new Date().toISOString();
  return api.storage.local.set({ [key]: { url, type, title, judge, time, html, places, scores: {} } });
}

async function writeScores(url, method, { precision, recall, f1 }) {
  const judgement = await judgementOf(url);
  if (!judgement) return;
  judgement.scores[method] = { precision, recall, f1 };
  await api.storage.local.set({ [JUDGED + addressOf(url)]: judgement });
}

export async function clearAll() {
  const all = await api.storage.local.get(null);
  const isOurs = (key) => key.startsWith(JUDGED) || key.startsWith(LINKED);
  await api.storage.local.remove(["pages", ...Object.keys(all).filter(isOurs)]);
}

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
