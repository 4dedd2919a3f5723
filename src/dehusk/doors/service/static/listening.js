// What happens elsewhere: clicks in the frame, corrections in other tabs, the end of the viewer.

import { byId } from "./dom.js";

// `picked` and `changed` are told what the viewer says; `back`, that this tab is looked at again.
export function listen({ picked, changed, back }) {
  let stream = null;

  function open() {
    const opened = new EventSource("/api/events");
    opened.addEventListener("picked", (event) => picked(JSON.parse(event.data)));
    opened.addEventListener("changed", (event) => changed(JSON.parse(event.data)));
    opened.onerror = () => {
      byId("ended").hidden = false;
    };
    // Started again, it shows pages elsewhere, and perhaps others.
    opened.onopen = () => byId("ended").hidden || location.reload();
    return opened;
  }

  // A browser opens six connections to one address: tabs that nobody looks at must not hold them.
  function settle() {
    if (document.hidden) {
      stream?.close();
      stream = null;
    } else if (!stream) {
      stream = open();
      back();
    }
  }

  document.addEventListener("visibilitychange", settle);
  settle();
}
