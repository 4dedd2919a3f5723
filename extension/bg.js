// What goes on without the popup: the key for 'toggle view', and what pages ask while a template is extracted.
// The browser may end it at any time, so it keeps nothing.

import { NoService, api, ask, toggleView } from "./actions.js";

const BEAT_MS = 20_000;

const badge = (tabId, text) => api.action.setBadgeText({ tabId, text }).catch(() => {});

api.commands.onCommand.addListener(async (command, tab) => {
  if (command !== "toggle-view" || !tab?.id) return;
  try {
    await toggleView(tab.id);
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
    send({ answer: await ask("/v1/linked", question, { signal, onLine: (line) => send({ line }) }) });
  } catch (fault) {
    send({ fault: fault.message, isMissing: fault instanceof NoService });
  } finally {
    clearInterval(beat);
  }
}

// How far it is, on the button.
api.runtime.onMessage.addListener(({ run }, sender) => {
  if (!run || !sender.tab) return;
  badge(sender.tab.id, run.state === "running" ? String(run.loads.length + 1) : run.state === "failed" ? "!" : "");
});
