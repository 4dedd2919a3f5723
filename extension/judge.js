// Runs in the page: a person marks by clicking what is not template, and what is the main content.

(() => {
  if (globalThis.dehusk.judge) return;
  const api = globalThis.browser ?? globalThis.chrome;
  const { JUDGED, POINTED, PANEL, markOf } = globalThis.dehusk;
  const MARKS = { notTemplate: "Not template", mainContent: "Main content" };
  const MOVES = { ArrowUp: "parentElement", ArrowDown: "firstElementChild", ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" };
  const EVENTS = ["click", "auxclick", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend", "submit", "dragstart"];
  let panel = null;
  let parts = {};
  let mark = "notTemplate";
  let pointed = null;
  let past = [];

  const marksOf = (element) => (element.getAttribute(JUDGED) ?? "").split(" ").filter(Boolean);
  const marked = (name) => [...document.querySelectorAll(`[${JUDGED}~="${name}"]`)];

  function setMark(element, name, isOn) {
    const marks = marksOf(element).filter((one) => one !== name);
    if (isOn) marks.push(name);
    if (marks.length) element.setAttribute(JUDGED, marks.join(" "));
    else element.removeAttribute(JUDGED);
  }

  // Opens the panel, with what is known of the page: `given` has the judgement so far, and where the page stands in the list.
  function judge(given) {
    if (panel) return leave();
    globalThis.dehusk.clear();
    const lost = restore(given.places);
    panel = makePanel(given.where);
    document.documentElement.append(panel);
    for (const name of EVENTS) addEventListener(name, swallow, { capture: true, passive: false });
    addEventListener("mouseover", hover, true);
    addEventListener("keydown", press, true);
    parts.notTemplate.focus();
    show(lost ? `The page has changed: ${lost} marks stand nowhere now` : "Click what is not template. Or move by arrows, and press m.");
    return true;
  }

  // What was marked before, or by TECO's own classes; how many marks found no place.
  function restore(places) {
    past = [];
    if (document.querySelector(`[${JUDGED}]`)) return 0;
    if (!places) {
      for (const element of document.querySelectorAll("[class*='notTemplate'], [class*='TECO_mainContent']")) {
        for (const name of element.classList) if (markOf(name)) setMark(element, markOf(name), true);
      }
      return 0;
    }
    let lost = 0;
    for (const [name, path, tag] of places) {
      const element = path.reduce((at, place) => at?.children[place], document.documentElement);
      if (element?.localName === tag) setMark(element, name, true);
      else lost += 1;
    }
    return lost;
  }

  function places() {
    const path = (element) => (element.parentElement ? [...path(element.parentElement), [...element.parentElement.children].indexOf(element)] : []);
    return Object.keys(MARKS).flatMap((name) => marked(name).map((element) => [name, path(element), element.localName]));
  }

  function makePanel(where) {
    const root = document.createElement(PANEL);
    root.setAttribute("role", "dialog");
    root.setAttribute("aria-label", "dehusk: judge this page");
    const add = (tag, text, id) => {
      parts[id] = Object.assign(document.createElement(tag), { textContent: text });
      parts[id].dataset.dehuskPart = id;
      if (tag === "button") parts[id].type = "button";
      root.append(parts[id]);
      return parts[id];
    };
    add("b", "Judge this page", "title");
    add("span", where, "where");
    for (const [name, words] of Object.entries(MARKS)) add("button", words, name);
    add("p", "", "words").setAttribute("role", "status");
    for (const [id, words] of [["undo", "Undo"], ["clear", "Clear"], ["check", "Check"], ["back", "← Back"], ["next", "Next →"], ["done", "Done"]]) add("button", words, id);
    return root;
  }

  const inPanel = (event) => panel.contains(event.target);

  // Nothing that is clicked is followed while it is judged. Only a hand judges: what a page's script makes up does nothing.
  function swallow(event) {
    event.stopImmediatePropagation();
    if (inPanel(event)) {
      if (event.type === "click" && event.isTrusted) PRESSED[Object.keys(parts).find((id) => parts[id] === event.target)]?.();
      return;
    }
    event.preventDefault();
    if (event.type === "click" && event.button === 0 && event.isTrusted) toggle(event.target);
  }

  const PRESSED = {
    notTemplate: () => choose("notTemplate"),
    mainContent: () => choose("mainContent"),
    undo: () => change(() => put(past.pop() ?? snapshot()), false),
    clear: () => change(() => put([])),
    check,
    back: () => go(-1),
    next: () => go(1),
    done: leave,
  };

  function choose(name) {
    mark = name;
    show(name === "notTemplate" ? "Click what is not template" : "Click the main content");
  }

  function hover(event) {
    if (event.isTrusted && !inPanel(event)) point(event.target);
  }

  function point(element) {
    pointed?.removeAttribute(POINTED);
    pointed = element instanceof Element && element !== document.documentElement ? element : null;
    pointed?.setAttribute(POINTED, "");
  }

  function press(event) {
    if (!event.isTrusted || event.ctrlKey || event.altKey || event.metaKey) return;
    if (MOVES[event.key]) {
      const next = pointed ? pointed[MOVES[event.key]] : document.body;
      if (next && next !== panel) point(next);
      if (pointed) describe();
    } else if (event.key === "m" && pointed) toggle(pointed);
    else if (event.key === "u") PRESSED.undo();
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  function describe() {
    pointed.scrollIntoView({ block: "nearest" });
    const text = pointed.innerText?.trim().slice(0, 60) ?? "";
    show(`<${pointed.localName}> ${text}`);
  }

  // A mark on an element is taken back by clicking anywhere in it; a larger one takes smaller ones in.
  function toggle(element) {
    if (!(element instanceof Element) || element === document.documentElement) return;
    change(() => {
      const around = element.closest(`[${JUDGED}~="${mark}"]`);
      if (around) {
        setMark(around, mark, false);
        if (mark === "notTemplate") for (const inside of [around, ...around.querySelectorAll(`[${JUDGED}]`)]) setMark(inside, "mainContent", false);
        return;
      }
      add(element, mark);
      // The main content is no template.
      if (mark === "mainContent" && !element.closest(`[${JUDGED}~="notTemplate"]`)) add(element, "notTemplate");
    });
  }

  function add(element, name) {
    for (const inside of element.querySelectorAll(`[${JUDGED}~="${name}"]`)) setMark(inside, name, false);
    setMark(element, name, true);
  }

  const snapshot = () => [...document.querySelectorAll(`[${JUDGED}]`)].map((element) => [element, element.getAttribute(JUDGED)]);

  function put(state) {
    for (const element of document.querySelectorAll(`[${JUDGED}]`)) element.removeAttribute(JUDGED);
    for (const [element, marks] of state) element.setAttribute(JUDGED, marks);
  }

  function change(act, isKept = true) {
    if (isKept) past.push(snapshot());
    act();
    show("");
    send({ judged: { url: location.href, title: document.title, html: globalThis.dehusk.write(), places: places() } }).catch((fault) => show(fault.message));
  }

  async function send(message) {
    const answer = await api.runtime.sendMessage(message);
    if (answer?.fault) throw new Error(answer.fault);
    return answer;
  }

  async function check() {
    show("…");
    try {
      const { method, template } = await send({ check: globalThis.dehusk.collect() });
      const [precision, recall, f1] = ["precision", "recall", "f1"].map((name) => template[name].toFixed(3));
      show(`${method}: precision ${precision}, recall ${recall}, F1 ${f1}`);
    } catch (fault) {
      show(fault.message);
    }
  }

  async function go(by) {
    try {
      await send({ step: { by, url: location.href } });
    } catch (fault) {
      show(fault.message);
    }
  }

  function show(words) {
    const [rest, main] = [marked("notTemplate").length, marked("mainContent").length];
    parts.words.textContent = words || `${rest} not template, ${main} main content`;
    for (const name of Object.keys(MARKS)) parts[name].setAttribute("aria-pressed", String(name === mark));
    parts.undo.toggleAttribute("disabled", !past.length);
  }

  // The page as it was. Its marks are kept by the extension.
  function leave() {
    for (const name of EVENTS) removeEventListener(name, swallow, { capture: true });
    removeEventListener("mouseover", hover, true);
    removeEventListener("keydown", press, true);
    point(null);
    panel.remove();
    panel = null;
    put([]);
    return false;
  }

  // The page as it is sent, with the marks that it has, or had when it was judged.
  function collectJudged(places) {
    if (panel || !places) return globalThis.dehusk.collect();
    restore(places);
    const page = globalThis.dehusk.collect();
    put([]);
    return page;
  }

  Object.assign(globalThis.dehusk, { judge, collectJudged });
})();
