// The list of pages: by family, each with its share of template.

import { get } from "./api.js";
import { byId, count, el, percent } from "./dom.js";

const rows = new Map();

export function fillSites(collection, choose) {
  const select = byId("site");
  select.replaceChildren(
    ...collection.sites.map((site) => el("option", { value: site.site }, `${site.site}  (${site.pages.length})`)),
  );
  select.addEventListener("change", () => choose(select.value));
}

export function fillPages(site, open) {
  const families = new Map();
  for (const page of site.pages) {
    const family = page.family ?? 0;
    if (!families.has(family)) families.set(family, []);
    families.get(family).push(page);
  }
  rows.clear();
  const parts = [];
  const sorted = [...families.values()].sort((a, b) => b.length - a.length);
  sorted.forEach((pages, place) => {
    if (sorted.length > 1) parts.push(el("li", { class: "family" }, el("h2", {}, `Family ${place + 1} · ${pages.length}`)));
    parts.push(...pages.map((page) => row(page, open)));
  });
  byId("pages").replaceChildren(...parts);
  search();
  return sorted.flat().map((page) => page.page);
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
  rows.set(page.page, { button, gauge, share, name, url: page.url ?? "", isConfirmed: page.is_confirmed });
  return el("li", {}, button);
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
    for (const [number, facts] of Object.entries(answer.pages)) showRow(Number(number), facts);
    search();
    start = answer.next;
  }
}
