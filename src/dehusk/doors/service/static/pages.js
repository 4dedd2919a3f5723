// The list of pages: by family, each with its share of template.

import { get } from "./api.js";
import { byId, el, percent } from "./dom.js";

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
    if (sorted.length > 1) parts.push(el("li", {}, el("h2", {}, `Family ${place + 1} · ${pages.length}`)));
    parts.push(...pages.map((page) => row(page, open)));
  });
  byId("pages").replaceChildren(...parts);
  return sorted.flat().map((page) => page.page);
}

function row(page, open) {
  const gauge = el("i");
  const share = el("span", { class: "share" });
  const name = el("span", { class: "name" }, shortName(page.url));
  const button = el(
    "button",
    { type: "button", title: page.url ?? "", onclick: () => open(page.page) },
    name,
    share,
    el("span", { class: "gauge" }, gauge),
  );
  rows.set(page.page, { button, gauge, share, name, isConfirmed: page.is_confirmed });
  return el("li", {}, button);
}

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
    start = answer.next;
  }
}
