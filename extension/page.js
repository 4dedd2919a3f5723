// Runs in the page when a button is pressed: reads the DOM as it is, and marks it with verdicts.
// It sees the DOM, not the page's scripts, and they do not see it.

(() => {
  if (globalThis.dehusk) return;
  const NUMBER = "data-dehusk-node";
  const VIEW = "data-dehusk-view";
  const MARK = "data-dehusk";
  const WRAPPER = "dehusk-text";
  const JUDGED = "data-dehusk-judged";
  const POINTED = "data-dehusk-pointed";
  const PANEL = "dehusk-panel";
  let held = [];

  // The page as HTML, its elements numbered in document order. The page itself is not changed.
  function collect() {
    clear();
    held = [...document.querySelectorAll("*")];
    return { html: write((clone, number) => clone.setAttribute(NUMBER, String(number))), url: location.href };
  }

  // The page as HTML as it is now, each element changed on its way; marks of the judge are written as TECO writes them.
  function write(change = () => {}) {
    const root = document.documentElement.cloneNode(true);
    const isJudged = document.querySelector(`[${JUDGED}]`) !== null;
    [root, ...root.querySelectorAll("*")].forEach((clone, number) => {
      change(clone, number);
      if (isJudged) writeMarks(clone);
      clone.removeAttribute(POINTED);
      // With scripts on, what is in it is text here and would be elements when it is read again.
      if (clone.localName === "noscript") clone.textContent = "";
      // A newline at the beginning is not read again.
      const first = clone.firstChild;
      if (/^(pre|listing|textarea)$/.test(clone.localName) && first?.nodeType === 3 && first.data.startsWith("\n")) {
        first.data = `\n${first.data}`;
      }
    });
    for (const panel of root.querySelectorAll(PANEL)) panel.remove();
    const doctype = document.compatMode === "CSS1Compat" ? "<!DOCTYPE html>" : "";
    return doctype + root.outerHTML;
  }

  // What was marked before is marked so by the judge too, or has been taken back.
  function writeMarks(clone) {
    const judged = (clone.getAttribute(JUDGED) ?? "").split(" ").filter(Boolean);
    clone.removeAttribute(JUDGED);
    const kept = [...clone.classList].filter((name) => !markOf(name));
    if (!judged.length && kept.length === clone.classList.length) return;
    const classes = [...kept, ...judged.map((mark) => `TECO_${mark}`)];
    if (classes.length) clone.setAttribute("class", classes.join(" "));
    else clone.removeAttribute("class");
  }

  // The mark that a class is, if it is one of TECO's.
  const markOf = (name) => (/^(TECO_)?notTemplate[23]?$/.test(name) ? "notTemplate" : name === "TECO_mainContent" ? "mainContent" : null);

  // The texts of an element: those that touch are one, comments and elements part them.
  function textsOf(element) {
    const runs = [];
    let run = null;
    for (const node of element.childNodes) {
      if (node.nodeType !== 3 && node.nodeType !== 4) {
        run = null;
      } else if (node.data) {
        if (!run) runs.push((run = []));
        run.push(node);
      }
    }
    return runs;
  }

  function apply(marks, elements = held) {
    const nodeAt = (number) => elements[number] ?? null;
    for (const [number, , , , piece] of marks.elements) {
      const element = nodeAt(number);
      if (element && piece) element.setAttribute(MARK, piece);
    }
    const wanted = marks.texts.filter(([, , , , piece]) => piece);
    const runs = new Map();
    for (const [number] of wanted) if (nodeAt(number) && !runs.has(number)) runs.set(number, textsOf(nodeAt(number)));
    for (const [number, place, , , piece, length] of wanted) {
      const run = runs.get(number)?.[place] ?? [];
      // A text that was read elsewhere than it stands is left as it is.
      if (run.reduce((sum, text) => sum + text.data.length, 0) !== length) continue;
      for (const text of run) {
        if (!text.data.trim() || !text.parentNode) continue;
        const wrapper = document.createElement(WRAPPER);
        wrapper.setAttribute(MARK, piece);
        text.replaceWith(wrapper);
        wrapper.append(text);
      }
    }
  }

  function clear() {
    document.documentElement.removeAttribute(VIEW);
    for (const wrapper of document.querySelectorAll(WRAPPER)) wrapper.replaceWith(...wrapper.childNodes);
    for (const marked of document.querySelectorAll(`[${MARK}]`)) marked.removeAttribute(MARK);
  }

  const view = () => document.documentElement.getAttribute(VIEW) ?? "page";

  function show(name) {
    if (name === "page") clear();
    else document.documentElement.setAttribute(VIEW, name);
    return view();
  }

  // For tests: what stands at each address, as the browser has it.
  function addresses() {
    return held.map((element) => [element.localName, textsOf(element).map((run) => run.map((text) => text.data).join(""))]);
  }

  globalThis.dehusk = { collect, write, markOf, held: () => held, apply, clear, show, view, addresses, JUDGED, POINTED, PANEL };
})();
