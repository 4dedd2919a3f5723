// The list of pages: doubtful ones first, then by family, each with its share of template.

import { get } from "./api.js";
import { byId, count, el, percent } from "./dom.js";

const rows = new Map();
export const order = []; // The pages as they are listed.

export function fillSites(collection, choose) {
  const select = byId("site");
  select.replaceChildren(
    ...collection.sites.map((site) => el("option", { value: site.site }, `${site.site}  (${site.pages.length})`)),
  );
  select.addEventListener("change", () => choose(select.value));
}

export function fillPages(site, open) {
  rows.clear();
  for (const page of site.pages) rows.set(page.page, row(page, open));
  arrange();
}

// Put the rows in their order, as far as it is known which are doubtful.
function arrange() {
  const isFocused = byId("pages").contains(document.activeElement) && document.activeElement;
  const families = new Map();
  for (const one of rows.values()) families.set(one.family, [...(families.get(one.family) ?? []), one]);
  const doubtful = [...rows.values()].filter((one) => one.doubt !== null).sort((a, b) => b.doubt - a.doubt);
  const groups = [...families.values()]
    .sort((a, b) => b.length - a.length)
    .map((family, place) => [`Family ${place + 1}`, family.filter((one) => one.doubt === null)]);
  const shown = [["Doubtful", doubtful], ...groups].filter(([, group]) => group.length);
  const heading = (name, group) => el("li", { class: "family" }, el("h2", {}, `${name} · ${group.length}`));
  const parts = shown.map(([name, group]) => [heading(name, group), ...group.map((one) => one.button.parentElement)]);
  byId("pages").replaceChildren(...(shown.length > 1 || doubtful.length ? parts.flat() : parts.flat().slice(1)));
  if (isFocused) isFocused.focus({ preventScroll: true });
  order.splice(0, order.length, ...shown.flatMap(([, group]) => group.map((one) => one.page)));
  search();
}

function row(page, open) {
  const gauge = el("i");
  const share = el("span", { class: "share" });
  const name = el("span", { class: "name", dir: "auto" }, shortName(page.url));
  const button = el(
    "button",
    { type: "button", title: page.url ?? "", onclick: () => open(page.page) },
    name,
    share,
    el("span", { class: "gauge" }, gauge),
  );
  el("li", {}, button);
  return { page: page.page, family: page.family ?? 0, doubt: null, button, gauge, share, name, url: page.url ?? "", isConfirmed: page.is_confirmed };
}

const holds = ({ name, url }, words) => {
  const text = `${name.textContent} ${url}`.toLowerCase();
  return words.every((word) => text.includes(word));
};

// Show the pages that have all words of the search in their title or URL.
export function search() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows.values()) {
    const isShown = holds(row, words);
    row.button.parentElement.hidden = !isShown;
    shown += isShown;
  }
  for (const heading of document.querySelectorAll("#pages .family")) heading.hidden = words.length > 0;
  byId("search-words").textContent = words.length ? `${count(shown, "page")} found` : "";
}

// The first page that the search has found; undefined where it found none, or nothing is searched.
export const firstFound = () => (byId("search").value.trim() ? order.find(isFound) : undefined);

export const isFound = (number) => !rows.get(number)?.button.parentElement.hidden;

export function shortName(url) {
  if (!url) return "a page without a URL";
  try {
    const parts = new URL(url);
    return decodeURIComponent(parts.pathname + parts.search) || "/";
  } catch {
    return url;
  }
}

export function showRow(number, facts) {
  const found = rows.get(number);
  if (!found) return;
  found.share.textContent = percent(facts.share);
  found.gauge.style.width = `${Math.round(facts.share * 100)}%`;
  found.button.setAttribute("aria-label", `${facts.title ?? found.name.textContent}, ${percent(facts.share)} template`);
  if (facts.title) found.name.textContent = facts.title;
}

export function markRow(number, isConfirmed) {
  const found = rows.get(number);
  if (!found) return;
  found.button.querySelector(".gold")?.remove();
  if (isConfirmed) found.share.before(el("span", { class: "gold quiet" }, "gold"));
  found.share.classList.toggle("gold", isConfirmed);
}

export function showCurrent(number) {
  for (const [page, { button }] of rows) {
    if (page === number) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  const row = rows.get(number)?.button;
  if (!row) return;
  // By hand: scrollIntoView would make the row the place where Tab goes on from.
  const list = byId("pages");
  const [above, below] = [row.offsetTop, row.offsetTop + row.offsetHeight - list.clientHeight];
  list.scrollTop = Math.min(above, Math.max(below, list.scrollTop));
}

export async function loadShares(site, isWanted) {
  let start = 0;
  while (start !== null && isWanted()) {
    const answer = await get("shares", { site, start });
    for (const [number, facts] of Object.entries(answer.pages)) {
      showRow(Number(number), facts);
      rows.get(Number(number)).doubt = facts.doubt;
    }
    arrange();
    start = answer.next;
  }
}
