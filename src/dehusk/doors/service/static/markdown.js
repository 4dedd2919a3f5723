// Markdown as a reader shows it: elements made by hand. Nothing that a page says becomes markup,
// an address or a request: links and images are shown as words.

import { el } from "./dom.js";

const MAX_LENGTH = 100_000; // More would take the browser seconds.
const MAX_DEPTH = 32; // dehusk nests up to 24.
const MAX_OPEN = 64; // Marks that are open at once: what is in them is handed on each time one turns out to be text.
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}|$)/;
const NOTE = /^\[\^([^\]\s]{1,100})\]: /;
const RULE = /^(-{3,}|\*{3,}|_{3,})\s*$/;
const CELLS = /^[ |:-]+$/;

function isRuler(line) {
  return CELLS.test(line) && line.includes("-");
}

export function rendered(markdown) {
  const shown = markdown.slice(0, MAX_LENGTH).split("\n");
  const more = markdown.length > MAX_LENGTH ? [el("p", {}, "… the rest is under Raw.")] : [];
  return el("div", { class: "rendered", dir: "auto" }, ...blocks(shown, 0), ...more);
}

const isBlank = (line) => !line.trim();

function blocks(lines, depth) {
  if (depth > MAX_DEPTH) return [el("p", {}, lines.join("\n"))];
  const found = [];
  let at = 0;
  while (at < lines.length) {
    const [node, next] = isBlank(lines[at]) ? [null, at + 1] : block(lines, at, depth);
    if (node) found.push(node);
    at = next;
  }
  return found;
}

// The block that begins at a line, and the line behind it.
function block(lines, at, depth) {
  const line = lines[at];
  if (FENCE.test(line)) return code(lines, at);
  const heading = /^(#{1,6}) +(.*)$/.exec(line);
  // Headings of a page stand below those of the viewer.
  if (heading) return [el(`h${Math.min(6, heading[1].length + 1)}`, { class: `level-${heading[1].length}` }, ...inline(heading[2])), at + 1];
  if (RULE.test(line)) return [el("hr"), at + 1];
  if (line.startsWith(">")) return quote(lines, at, depth);
  if (ITEM.test(line)) return list(lines, at, depth);
  if (NOTE.test(line)) return note(lines, at, depth);
  if (line.startsWith("|") && isRuler(lines[at + 1] ?? "")) return table(lines, at);
  return paragraph(lines, at);
}

const isStart = (line) =>
  isBlank(line) || FENCE.test(line) || /^#{1,6} /.test(line) || RULE.test(line) || line.startsWith(">") || ITEM.test(line) || NOTE.test(line);

function paragraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && !isStart(lines[end])) end += 1;
  return [el("p", {}, ...inline(lines.slice(at, end).join("\n"))), end];
}

function code(lines, at) {
  const [, fence] = FENCE.exec(lines[at]);
  const isEnd = (line) => line.trim().startsWith(fence) && !line.trim().replaceAll(fence[0], "");
  let end = at + 1;
  while (end < lines.length && !isEnd(lines[end])) end += 1;
  return [el("pre", { tabindex: 0 }, el("code", {}, lines.slice(at + 1, end).join("\n"))), end + 1];
}

function quote(lines, at, depth) {
  let end = at;
  while (end < lines.length && lines[end].startsWith(">")) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(/^> ?/, ""));
  return [el("blockquote", {}, ...blocks(inner, depth + 1)), end];
}

// The lines that go with a first one because they are indented as far, and the line behind them.
function indented(lines, at, width) {
  let end = at + 1;
  while (end < lines.length && (isBlank(lines[end]) || lines[end].slice(0, width).trim() === "")) end += 1;
  while (end > at + 1 && isBlank(lines[end - 1])) end -= 1;
  return [lines.slice(at + 1, end).map((line) => line.slice(width)), end];
}

function note(lines, at, depth) {
  const [mark, name] = NOTE.exec(lines[at]);
  const [rest, end] = indented(lines, at, 4);
  const inner = blocks([lines[at].slice(mark.length), ...rest], depth + 1);
  return [el("div", { class: "note" }, el("sup", {}, name), ...inner), end];
}

function list(lines, at, depth) {
  const [, , first] = ITEM.exec(lines[at]);
  const kind = first.slice(-1);
  const items = [];
  let end = at;
  let isLoose = false;
  for (;;) {
    const found = ITEM.exec(lines[end] ?? "");
    if (!found || found[2].slice(-1) !== kind || RULE.test(lines[end])) break;
    const width = found[1].length + found[2].length + (found[3].length || 1);
    const [rest, next] = indented(lines, end, width);
    items.push([lines[end].slice(width), ...rest]);
    end = next;
    let behind = end;
    while (behind < lines.length && isBlank(lines[behind])) behind += 1;
    const goesOn = ITEM.exec(lines[behind] ?? "");
    if (behind === end || !goesOn || goesOn[2].slice(-1) !== kind) continue;
    isLoose = true;
    end = behind;
  }
  const isOrdered = /\d/.test(first);
  const made = items.map((inner) => item(inner, isLoose, depth));
  return [el(isOrdered ? "ol" : "ul", isOrdered ? { start: parseInt(first, 10) } : {}, ...made), end];
}

function item(lines, isLoose, depth) {
  const task = /^\[([ x])\] ?/.exec(lines[0]);
  const first = task ? lines[0].slice(task[0].length) : lines[0];
  const parts = blocks([first, ...lines.slice(1)], depth + 1);
  const inner = isLoose ? parts : parts.flatMap((part) => (part.tagName === "P" ? [...part.childNodes] : [part]));
  return el("li", {}, task ? (task[1] === "x" ? "☑ " : "☐ ") : null, ...inner);
}

function table(lines, at) {
  let end = at + 2;
  while (end < lines.length && lines[end].startsWith("|")) end += 1;
  const row = (line, name) => el("tr", {}, ...cells(line).map((cell) => el(name, {}, ...inline(cell))));
  const body = lines.slice(at + 2, end).map((line) => row(line, "td"));
  const made = el("table", {}, el("thead", {}, row(lines[at], "th")), el("tbody", {}, ...body));
  return [el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table" }, made), end];
}

function cells(line) {
  const found = [""];
  for (let at = 1; at < line.length; at += 1) {
    if (line[at] === "\\" && line[at + 1] === "|") found[found.length - 1] += line[(at += 1)];
    else if (line[at] === "\\") found[found.length - 1] += line[at] + (line[(at += 1)] ?? "");
    else if (line[at] === "|") found.push("");
    else found[found.length - 1] += line[at];
  }
  return found.slice(0, line.trimEnd().endsWith("|") ? -1 : undefined).map((cell) => cell.trim());
}

const KINDS = { "*": ["em", "strong"], _: ["em", "strong"], "~": [null, "del"] };
const isSpace = (character) => !character || /\s/u.test(character);
const isWord = (character) => /[\p{L}\p{N}]/u.test(character ?? "");

// What stands in a line, in one pass: marks that are open are a stack.
function inline(text) {
  const stack = [{ mark: "", nodes: [] }];
  const top = () => stack[stack.length - 1];
  const add = (node) => top().nodes.push(node);
  let plain = "";
  const flush = () => {
    if (plain) add(plain);
    plain = "";
  };
  // A mark that was never closed is text.
  const fold = () => {
    const gone = stack.pop();
    top().nodes.push(gone.mark, ...joined(gone.nodes));
  };
  const runs = tickRuns(text);
  let links = 0;
  let at = 0;
  while (at < text.length) {
    const sign = text[at];
    const found = special(text, at, runs);
    if (found) {
      flush();
      add(found.node);
      at = found.end;
    } else if (sign === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")) {
      plain += text[at + 1];
      at += 2;
    } else if (stack.length < MAX_OPEN && (sign === "[" || (sign === "!" && text[at + 1] === "["))) {
      flush();
      const mark = sign === "[" ? "[" : "![";
      stack.push({ mark, nodes: [], isLink: true });
      links += 1;
      at += mark.length;
    } else if (sign === "]" && links) {
      flush();
      while (!top().isLink) fold();
      links -= 1;
      const target = text[at + 1] === "(" ? destination(text, at + 2) : null;
      if (target) {
        const { mark, nodes } = stack.pop();
        add(el("span", { class: mark === "[" ? "link" : "picture", title: target.url }, ...joined(nodes)));
        at = target.end;
      } else {
        fold();
        plain = "]";
        at += 1;
      }
    } else if (sign in KINDS) {
      flush();
      let end = at + 1;
      while (text[end] === sign) end += 1;
      emphasis(stack, sign, end - at, text[at - 1], text[end]);
      at = end;
    } else {
      plain += sign;
      at += 1;
    }
  }
  flush();
  while (stack.length > 1) fold();
  return joined(stack[0].nodes);
}

// Texts side by side as one: marks that turned out to be text may be many.
function joined(nodes) {
  const found = [];
  let texts = [];
  for (const node of [...nodes, null]) {
    if (typeof node === "string") {
      texts.push(node);
      continue;
    }
    if (texts.length) found.push(texts.join(""));
    texts = [];
    if (node) found.push(node);
  }
  return found;
}

// Close what a run of marks closes, and open what is left of it.
function emphasis(stack, sign, length, before, behind) {
  const top = () => stack[stack.length - 1];
  const add = (node) => top().nodes.push(node);
  let left = length;
  const isClosing = !isSpace(before) && (sign !== "_" || !isWord(behind));
  while (isClosing && left && top().sign === sign && top().mark.length <= left) {
    const { mark, nodes } = stack.pop();
    left -= mark.length;
    add(el(KINDS[sign][mark.length - 1], {}, ...joined(nodes)));
  }
  const isOpening = !isSpace(behind) && (sign !== "_" || !isWord(before));
  const sizes = { 1: [1], 2: [2], 3: [1, 2] }[left] ?? [];
  if (!isOpening || !sizes.length || stack.length >= MAX_OPEN || sizes.some((size) => !KINDS[sign][size - 1])) {
    if (left) add(sign.repeat(left));
    return;
  }
  for (const size of sizes) stack.push({ sign, mark: sign.repeat(size), nodes: [] });
}

// Where runs of backticks of each length begin.
function tickRuns(text) {
  const found = new Map();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    if (!found.has(run.length)) found.set(run.length, []);
    found.get(run.length).push(index);
  }
  for (const places of found.values()) places.reverse();
  return found;
}

// Code, formulas, line ends and marks of footnotes: what holds no other marks.
function special(text, at, runs) {
  const sign = text[at];
  if (sign === "`") return codeSpan(text, at, runs);
  if (sign === "$") return formula(text, at);
  if (sign === "\n") return { node: "\n", end: at + 1 };
  if (sign === " " && text.startsWith("  \n", at)) return { node: el("br"), end: at + 3 };
  if (sign === "<" && text.startsWith("<br>", at)) return { node: el("br"), end: at + 4 };
  if (sign === "<") return address(text, at);
  if (sign === "[" && text[at + 1] === "^") {
    const end = text.slice(at, at + 103).indexOf("]");
    if (end > 2) return { node: el("sup", {}, text.slice(at + 2, at + end)), end: at + end + 1 };
  }
  return null;
}

function address(text, at) {
  const found = /^<((?:https?|mailto|ftp):[^\s<>]*)>/i.exec(text.slice(at, at + MAX_URL));
  return found && { node: el("span", { class: "link" }, found[1]), end: at + found[0].length };
}

function codeSpan(text, at, runs) {
  let length = 1;
  while (text[at + length] === "`") length += 1;
  const places = runs.get(length) ?? [];
  while (places.length && places[places.length - 1] <= at) places.pop();
  if (!places.length) return { node: "`".repeat(length), end: at + length };
  const end = places[places.length - 1];
  const inner = text.slice(at + length, end).replaceAll("\n", " ");
  const isPadded = inner.startsWith(" ") && inner.endsWith(" ") && inner.trim();
  return { node: el("code", {}, isPadded ? inner.slice(1, -1) : inner), end: end + length };
}

const MAX_FORMULA = 4000;

function formula(text, at) {
  const mark = text[at + 1] === "$" ? "$$" : "$";
  if (isSpace(text[at + mark.length])) return null;
  const inner = text.slice(at + mark.length, at + MAX_FORMULA);
  const end = inner.indexOf(mark);
  if (end < 1 || isSpace(inner[end - 1])) return null;
  return { node: el("code", { class: "formula" }, inner.slice(0, end)), end: at + end + 2 * mark.length };
}

const MAX_URL = 2000;

function destination(text, at) {
  let depth = 0;
  for (let end = at; end < Math.min(text.length, at + MAX_URL); end += 1) {
    if (text[end] === "\\") end += 1;
    else if (text[end] <= " ") return null;
    else if (text[end] === "(") depth += 1;
    else if (text[end] === ")" && depth) depth -= 1;
    else if (text[end] === ")") return { url: text.slice(at, end).replace(/^<(.*)>$/, "$1"), end: end + 1 };
  }
  return null;
}
