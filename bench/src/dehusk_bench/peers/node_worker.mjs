// Answers pages with what an extractor for Node keeps of them, one JSON line for another:
//     node node_worker.mjs FOLDER TOOL        FOLDER is where npm has installed the packages
//     in   {"html": "…", "url": "https://…" or null}, the HTML with every tag that it implies
//     out  {"html": "…"} or {"error": "…"}; the first line, {"ready": true} or an error, asks for none

import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, tool] = process.argv.slice(2);
const require = createRequire(join(folder, "package.json"));

// What extractors have to say must not get between the answers.
for (const name of ["log", "info", "warn", "error", "debug"]) console[name] = () => {};

const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");

async function load() {
  const { parseHTML } = require("linkedom");
  if (tool === "defuddle") {
    // By its file: the name `defuddle/node` is for `import` alone, which looks beside this script.
    const file = join(folder, "node_modules", "defuddle", "dist", "node.js");
    const { Defuddle } = await import(pathToFileURL(file));
    // `useAsync` would ask services on the web.
    const settings = { useAsync: false };
    return async (html, url) =>
      (await Defuddle(parseHTML(html).document, url ?? "", settings)).content;
  }
  const { Readability } = require("@mozilla/readability");
  return async (html) => new Readability(parseHTML(html).document).parse()?.content;
}

try {
  const extract = await load();
  say({ ready: true });
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const { html, url } = JSON.parse(line);
    try {
      say({ html: (await extract(html, url)) ?? "" });
    } catch (fault) {
      say({ error: String(fault) });
    }
  }
} catch (fault) {
  say({ error: String(fault) });
}
