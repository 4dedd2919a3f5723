// What goes on without the popup: the keys, and what pages ask while a template is extracted or they are judged.
// The browser may end it at any time, so it keeps nothing.

import { NoService, ask, check, judge, toggleView } from "./actions.js";
import { api, keepJudgement, keepLinked, keepScores, step } from "./list.js";

const BEAT_MS = 20_000;

const badge = (tabId, text) => api.action.setBadgeText({ tabId, text }).catch(() => {});

const KEYS = { "toggle-view": toggleView, judge };

api.commands.onCommand.addListener(async (command, tab) => {
  if (!KEYS[command] || !tab?.id) return;
  try {
    await KEYS[command](tab.id);
    await badge(tab.id, "");
  } catch {
    // The popup says what is wrong; a key can only say that something is.
    await badge(tab.id, "!");
  }
});

api.runtime.onConnect.addListener((port) => {
  const gone = new AbortController();
  port.onDisconnect.addListener(() => gone.abort());
  port.onMessage.addListener((question) => answer(port, question, gone.signal));
});

// Asks the service for a page, and for that page alone.
async function answer(port, question, signal) {
  const send = (message) => signal.aborted || port.postMessage(message);
  // Any call of the browser tells it that this is still at work.
  const beat = setInterval(() => api.runtime.getPlatformInfo(), BEAT_MS);
  try {
    if (new URL(question.page.url).origin !== new URL(port.sender.url).origin) throw new Error("A page may ask for itself only");
    send({ answer: await ask("/v1/linked", question, { signal, onLine: (line) => line.wanted === undefined && send({ line }) }) });
  } catch (fault) {
    send({ fault: fault.message, isMissing: fault instanceof NoService });
  } finally {
    clearInterval(beat);
  }
}

// How far an extraction is, on the button.
function showRun(run, tab) {
  badge(tab.id, run.state === "running" ? String(run.loads.length + 1) : run.state === "failed" ? "!" : "");
  if (run.state === "done" && run.answer.benchmark) return keepScores(run.url, run.answer.method, run.answer.benchmark.template);
}

// What a page tells or asks, and what it is answered.
const MESSAGES = {
  run: (run, { tab }) => showRun(run, tab),
  linked: (pages) => keepLinked(pages),
  judged: (judgement) => keepJudgement(judgement),
  check: (page) => check(page),
  step: ({ by, url }, { tab }) => step(tab.id, url, by),
};

api.runtime.onMessage.addListener((message, sender, reply) => {
  const [name] = Object.keys(message);
  if (!sender.tab || !MESSAGES[name]) return false;
  Promise.resolve(MESSAGES[name](message[name], sender)).then((answer) => reply(answer ?? {}), (fault) => reply({ fault: fault.message }));
  return true;
});
