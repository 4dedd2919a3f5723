// The viewer: what is chosen, and what follows from it.

import { get, post, remove, setJudge } from "./api.js";
import { byId, el, percent, say } from "./dom.js";
import { listen } from "./listening.js";
import { chosenStep, drawCurve, moveStep, setSteps, showStep } from "./growth.js";
import { fillPages, fillSites, firstFound, isFound, loadShares, markRow, order, search, showCurrent, showRow } from "./pages.js";
import * as panels from "./panels.js";
import { showPick } from "./pick.js";

const VIEWS = ["page", "content", "template", "heat"];
const TABS = ["why", "markdown", "compare", "template", "links", "rules", "site"];
const SCREENS = ["pages", "page", "findings"]; // Of which a phone shows one at a time.
const state = { collection: null, site: null, page: null, facts: null, view: "page", tab: "why", region: null };

const TAB = crypto.randomUUID(); // So that a click in a frame is heard by the tab it was made in.
const SLOW_MS = 250;
let asked = 0;

// The frame has no scripts: the part of its address behind # says what it shows.
// A browser forgets a part that is asked for while the frame loads, so that waits.
function showFrame() {
  const part = state.region === null ? state.view : `${state.view}-${state.region}`;
  const address = `${state.facts.frame}&tab=${TAB}#dehusk-${part}`;
  const frame = byId("frame");
  if (frame.dataset.page !== state.facts.frame) {
    frame.dataset.page = state.facts.frame;
    frame.dataset.load = "begun";
    frame.src = address;
  } else if (frame.dataset.load === "done") frame.contentWindow.location.replace(address);
  else frame.dataset.load = "late";
}

function onFrame() {
  const frame = byId("frame");
  const isLate = frame.dataset.load === "late";
  frame.dataset.load = "done";
  if (isLate) showFrame();
}

function setView(view) {
  state.view = view;
  document.querySelector(`#views input[value="${view}"]`).checked = true;
  if (state.facts) showFrame();
  say(`view: ${view}`);
}

async function showPanel() {
  const wanted = `${state.tab} ${state.facts.frame}`;
  const panel = byId("panel");
  const isWanted = () => panel.dataset.wanted === wanted;
  // Says what takes so long; false when somebody has gone on to something else.
  const tell = (words) => {
    clearTimeout(slow);
    if (isWanted()) panel.replaceChildren(el("p", {}, words));
    return isWanted();
  };
  const act = {
    isKept: state.collection.is_kept,
    isCut: state.collection.is_cut,
    tell,
    region: chooseRegion,
    removeRule: (rule) => change(() => remove("rules", { site: state.facts.site, rule: rule.id })),
    undo: (one) => change(() => post("corrections", { page: state.page, action: "undo", selector: one.selector, is_rule: false })),
    confirm,
    judge: (name) => report(chooseJudge(name)),
    node: (node) => report(showPick(state.page, node, correct)),
    answer: (action, selector) => correct({ page: state.page, action, selector, is_rule: true }),
    open: (page) => choosePage(page),
    again: () => report(showPanel()),
  };
  panel.dataset.wanted = wanted;
  panel.setAttribute("aria-labelledby", `tab-${state.tab}`);
  panel.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => tell("Working …"), SLOW_MS);
  // What goes wrong here is no reason to show what is under another tab.
  const parts = await Promise.resolve(panels[state.tab](state.facts, act)).catch((fault) => [el("p", {}, fault.message)]);
  clearTimeout(slow);
  if (!isWanted()) return;
  panel.replaceChildren(...parts.filter(Boolean));
  panel.removeAttribute("aria-busy");
  panel.dataset.shown = wanted;
}

function setTab(tab) {
  state.tab = tab;
  for (const name of TABS) {
    const button = byId(`tab-${name}`);
    button.setAttribute("aria-selected", String(name === tab));
    button.tabIndex = name === tab ? 0 : -1;
  }
  showTab(byId(`tab-${tab}`));
  byId("panel").scrollTop = 0;
  if (state.facts) report(showPanel());
}

// By hand: scrollIntoView would scroll the whole page on a phone.
function showTab(button) {
  const tabs = byId("tabs");
  const [left, right] = [button.offsetLeft, button.offsetLeft + button.offsetWidth - tabs.clientWidth];
  tabs.scrollLeft = Math.min(left, Math.max(right, tabs.scrollLeft));
}

function setScreen(screen) {
  document.body.dataset.screen = screen;
  for (const name of SCREENS) byId(`screen-${name}`).setAttribute("aria-pressed", String(name === screen));
  if (screen === "findings") showTab(byId(`tab-${state.tab}`));
}

function choosePage(page) {
  setScreen("page");
  report(open(page));
}

function chooseRegion(place) {
  setScreen("page");
  state.region = place;
  for (const button of document.querySelectorAll("[data-region]")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.region) === place));
  }
  showFrame();
  report(showPick(state.page, state.facts.regions[place].node, correct));
}

async function load(seen) {
  const page = state.page;
  const number = ++asked;
  const facts = await get("page", { page, seen });
  if (number !== asked) return;
  state.facts = facts;
  byId("title").textContent = facts.title ?? "Untitled";
  const said = [facts.author, facts.published?.slice(0, 10)].filter(Boolean).join(", ");
  byId("address").textContent = [facts.url, said].filter(Boolean).join(" · ");
  document.title = `${facts.title ?? facts.url ?? "page"} · dehusk`;
  showStep(facts);
  showRow(page, facts.seen === lastStep() ? facts : { ...facts, share: shareOf(page) ?? facts.share });
  search();
  if (facts.seen === lastStep()) state.shares.set(page, facts.share);
  markRow(page, facts.is_confirmed);
  showFrame();
  await showPanel();
}

const lastStep = () => state.site.steps[state.site.steps.length - 1];
const shareOf = (page) => state.shares.get(page);

async function open(page) {
  state.page = page;
  state.region = null;
  byId("pick").close();
  showCurrent(page);
  history.replaceState(null, "", `#${page}`);
  setSteps(state.site.steps, lastStep());
  await load(null);
  if (state.page !== page) return;
  say(`${state.facts.title ?? "page"}: ${percent(state.facts.share)} template`);
  report(drawCurve(page));
}

// Whoever slides over ten steps of a slow page wants the last of them.
function latest(work) {
  let isBusy = false;
  let isStale = false;
  return async () => {
    isStale = isBusy;
    if (isBusy) return;
    isBusy = true;
    try {
      do {
        isStale = false;
        await work();
      } while (isStale);
    } finally {
      isBusy = false;
    }
  };
}

const loadStep = latest(() => load(chosenStep()));

function chooseSite(name, page) {
  state.site = state.collection.sites.find((site) => site.site === name);
  state.shares = new Map();
  byId("site").value = name;
  fillPages(state.site, choosePage);
  const site = state.site;
  report(open(page ?? order[0]).then(() => loadShares(name, () => state.site === site)));
}

async function change(act) {
  await act();
  state.region = null;
  await load(chosenStep());
  say(`${percent(state.facts.share)} template now`);
  report(drawCurve(state.page));
}

const correct = (given) => report(change(() => post("corrections", given)));

async function confirm() {
  await change(() => post("gold", { page: state.page, is_right: !state.facts.is_confirmed }));
}

async function chooseJudge(name) {
  setJudge(name);
  state.collection = await get("collection");
  chooseSite(state.site.site, state.page);
}

function report(work) {
  Promise.resolve(work).catch((fault) => {
    say(fault.message);
    byId("address").textContent = fault.message;
  });
}

function step(by) {
  const shown = order.filter((page) => isFound(page) || page === state.page);
  const place = shown.indexOf(state.page) + by;
  if (place >= 0 && place < shown.length) report(open(shown[place]));
}

const KEYS = {
  v: () => setView(VIEWS[(VIEWS.indexOf(state.view) + 1) % VIEWS.length]),
  j: () => step(1),
  k: () => step(-1),
  t: () => setTab(TABS[(TABS.indexOf(state.tab) + 1) % TABS.length]),
  g: () => report(confirm()),
  ",": () => moveStep(-1) && report(loadStep()),
  ".": () => moveStep(1) && report(loadStep()),
  "?": () => byId("help").showModal(),
  "/": () => {
    setScreen("pages");
    byId("search").focus();
  },
  Escape: () => byId("pick").close(),
  ...Object.fromEntries(VIEWS.map((view, place) => [String(place + 1), () => setView(view)])),
};

function onKey(event) {
  const isTyping = (event.target.matches("select, input[type=text], input[type=search]") && event.key !== "Escape") || byId("help").open;
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
}

function onTabKey(event) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const next = TABS[(TABS.indexOf(state.tab) + by + TABS.length) % TABS.length];
  setTab(next);
  byId(`tab-${next}`).focus();
}

// The frame keeps the keys after a click into it. They come back with the pointer.
function onPointer(event) {
  const frame = byId("frame");
  if (event.target !== frame && document.activeElement === frame) byId("stage").focus({ preventScroll: true });
}

function onPicked({ tab, page, node }) {
  if (tab === TAB && page === state.page) report(showPick(page, node, correct));
}

// Somebody has corrected something, perhaps in another tab.
function onChanged({ version }) {
  if (state.facts && version > state.facts.version) report(loadStep());
}

async function start() {
  document.addEventListener("keydown", onKey);
  byId("views").addEventListener("change", (event) => setView(event.target.value));
  byId("seen").addEventListener("input", () => report(loadStep()));
  byId("help-button").addEventListener("click", KEYS["?"]);
  byId("tabs").addEventListener("keydown", onTabKey);
  for (const tab of TABS) byId(`tab-${tab}`).addEventListener("click", () => setTab(tab));
  for (const screen of SCREENS) byId(`screen-${screen}`).addEventListener("click", () => setScreen(screen));
  byId("search").addEventListener("input", search);
  byId("search").addEventListener("keydown", ({ key }) => key === "Enter" && firstFound() !== undefined && choosePage(firstFound()));
  document.addEventListener("pointerover", onPointer);
  byId("frame").addEventListener("load", onFrame);
  listen({ picked: onPicked, changed: onChanged, back: () => state.facts && report(loadStep()) });
  state.collection = await get("collection");
  const { sites } = state.collection;
  if (!sites.length) {
    byId("title").textContent = "No pages";
    byId("address").textContent = `${state.collection.refused} could not be read`;
    return;
  }
  fillSites(state.collection, (name) => chooseSite(name));
  const asked = Number(location.hash.slice(1) || "NaN");
  const found = sites.find((site) => site.pages.some((page) => page.page === asked));
  chooseSite((found ?? sites[0]).site, found ? asked : undefined);
}

report(start());
