// A node that somebody points at: what it is, and what to do with it.

import { get, judge } from "./api.js";
import { byId, el } from "./dom.js";

export async function showPick(page, node, act) {
  const facts = await get("node", { page, node });
  const dialog = byId("pick");
  const choice = el(
    "select",
    { id: "pick-selector" },
    ...facts.selectors.map(({ css, count }, place) =>
      el("option", { value: css }, place === facts.selectors.length - 1 ? "only this element" : `${css}  (${count} on this page)`),
    ),
  );
  const isRule = el("input", { type: "checkbox", id: "pick-rule" });
  const exact = facts.selectors.length - 1;
  const settle = () => {
    isRule.disabled = choice.selectedIndex === exact;
    // A rule is everybody's: a judge who is named means his own page, unless he says otherwise.
    isRule.checked = !isRule.disabled && !judge();
  };
  choice.addEventListener("change", settle);
  settle();
  const decide = (action) => () => {
    dialog.close();
    act({ page, action, selector: choice.value, is_rule: isRule.checked });
  };
  dialog.replaceChildren(
    el("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => dialog.close() }, "×"),
    el("h2", { id: "pick-title", dir: "auto" }, facts.text || `<${facts.tag}>`),
    el("p", {}, facts.why),
    el("label", {}, "What do you mean?", choice),
    el("label", { class: "check" }, isRule, "on every page of this site"),
    el(
      "div",
      { class: "row" },
      el("button", { type: "button", class: `button${facts.label === "template" ? " main" : ""}`, onclick: decide("keep") }, "Keep"),
      el("button", { type: "button", class: `button${facts.label === "template" ? "" : " main"}`, onclick: decide("drop") }, "Drop"),
    ),
  );
  if (!dialog.open) dialog.show();
  dialog.querySelector(".main").focus();
}
