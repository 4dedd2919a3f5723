// The key for 'toggle view', without the popup.

import { api, toggleView } from "./actions.js";

api.commands.onCommand.addListener(async (command, tab) => {
  if (command !== "toggle-view" || !tab?.id) return;
  try {
    await toggleView(tab.id);
    await api.action.setBadgeText({ tabId: tab.id, text: "" });
  } catch {
    // The popup says what is wrong; a key can only say that something is.
    await api.action.setBadgeText({ tabId: tab.id, text: "!" });
  }
});
