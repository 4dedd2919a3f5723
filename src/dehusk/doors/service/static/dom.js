// Elements made by hand: text is always text, never markup.

export const byId = (id) => document.getElementById(id);

export function el(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (value === false && !key.startsWith("aria-")) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else made.setAttribute(key, value === true && !key.startsWith("aria-") ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const figure = (value, words, title) => el("div", { title }, el("b", {}, value), el("span", {}, words));

export const expectedF1 = (value) =>
  figure(value === null ? "–" : value.toFixed(2), "expected F1", "How good dehusk expects its answer to be: 1 is perfect.");

export const removedBySite = (share) =>
  figure(share === null ? "–" : percent(share), "removed by the site", "How much of what the page alone would keep its site took away.");

export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

export const NOT_KEPT = "Rules last as long as this viewer runs. To keep them, start it with --memory FILE.";

export const percent = (share) => (share === null || share === undefined ? "" : `${Math.round(share * 100)} %`);

export const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

export function say(words) {
  byId("status").textContent = words;
}
