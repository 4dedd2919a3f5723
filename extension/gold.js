// Judgements as dehusk reads them: records of gold, and a folder of pages with TECO's marks, packed as one file.

// At the beginning of a file: what it says of its own charset was true of other bytes.
export const UTF8 = "\ufeff";
const MARKS = { content_nodes: "TECO_notTemplate", main_nodes: "TECO_mainContent" };

// The judgement as a record of gold. A node's path is child positions among elements, from <html> down.
function recordOf({ url, type, title, judge, time, html, scores }) {
  // A document that is read so runs nothing and loads nothing.
  const page = new DOMParser().parseFromString(html, "text/html");
  const path = (element) => (element.parentElement ? [...path(element.parentElement), [...element.parentElement.children].indexOf(element)] : []);
  const found = Object.entries(MARKS).map(([name, mark]) => [name, [...page.getElementsByClassName(mark)].map(path)]);
  for (const mark of Object.values(MARKS)) {
    for (const element of [...page.getElementsByClassName(mark)]) {
      element.classList.remove(mark);
      if (!element.classList.length) element.removeAttribute("class");
    }
  }
  const doctype = page.compatMode === "CSS1Compat" ? "<!DOCTYPE html>" : "";
  const facts = { corpus: "judged", site: siteOf(url), url, type: type || null, lang: page.documentElement.lang || null, title, key: true };
  return { ...facts, judge, time, ...Object.fromEntries(found), excluded_nodes: [], scores, html: doctype + page.documentElement.outerHTML };
}

const siteOf = (url) => new URL(url).host;
const folderOf = (url) => siteOf(url).replace(/[^\w.-]/g, "_");

// The name of a page's file in the folder of its site.
export function fileOf(url) {
  const { pathname, search } = new URL(url);
  const plain = (pathname + search).replace(/^\//, "").replace(/[^\w./-]/g, "_").replace(/\.\.+/g, "_").replace(/\/(?=\/|$)/g, "/index") || "index";
  const short = plain.split("/").map((name) => name.slice(0, 120)).join("/");
  return /\.html?$/i.test(short) ? short : `${short}.html`;
}

// By name, the files of a folder that `dehusk bench teco` reads: judged pages, and others that they link.
export function filesOf(judgements, linked) {
  const files = {};
  const sites = {};
  const seen = new Set();
  for (const { url, type, html } of [...judgements, ...linked]) {
    if (seen.has(url)) continue;
    seen.add(url);
    const site = (sites[folderOf(url)] ??= { type: type || undefined, urls: {} });
    let name = fileOf(url);
    while (site.urls[name]) name = name.replace(/(\.html?)$/i, "_$1");
    site.urls[name] = url;
    files[`${folderOf(url)}/${name}`] = UTF8 + html;
  }
  const known = Object.fromEntries(Object.entries(sites).map(([site, { type }]) => [site, { type }]));
  files["sites.json"] = JSON.stringify(known, null, 2);
  for (const [site, { urls }] of Object.entries(sites)) files[`${site}/index.json`] = JSON.stringify(urls, null, 2);
  return files;
}

const CRCS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

const crcOf = (bytes) => ~bytes.reduce((crc, byte) => (crc >>> 8) ^ CRCS[(crc ^ byte) & 255], ~0) >>> 0;

// Records as lines of JSON, those of a site one after another.
export function linesOf(judgements) {
  const records = judgements.map(recordOf).sort((one, other) => (one.site < other.site ? -1 : one.site > other.site ? 1 : 0));
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

// Files as a ZIP, stored as they are.
export function zip(files) {
  const parts = [];
  const directory = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const [title, bytes] = [name, text].map((words) => new TextEncoder().encode(words));
    // Version 2.0, names in UTF-8, stored, 1 January 1980; the sum, both sizes, the length of the name.
    const facts = [[2, 20], [2, 0x800], [2, 0], [2, 0], [2, 0x21], [4, crcOf(bytes)], [4, bytes.length], [4, bytes.length], [2, title.length], [2, 0]];
    parts.push(numbers([4, 0x04034b50], ...facts), title, bytes);
    directory.push(numbers([4, 0x02014b50], [2, 20], ...facts, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]), title);
    at += 30 + title.length + bytes.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const count = directory.length / 2;
  return new Blob([...parts, ...directory, numbers([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, at], [2, 0])], { type: "application/zip" });
}

// Numbers of so many bytes each, the least first.
const numbers = (...given) => Uint8Array.from(given.flatMap(([size, number]) => Array.from({ length: size }, (_, byte) => (number >>> (8 * byte)) & 255)));
