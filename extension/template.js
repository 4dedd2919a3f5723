// The template of a page: shown where nothing of it runs, and to be saved.

import { api } from "./list.js";

const POLICY = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">`;
const { template } = await api.storage.session.get({ template: null });
if (template) {
  document.title = `Template of ${template.site}`;
  document.getElementById("title").textContent = document.title;
  document.getElementById("words").textContent = `as on ${template.url}: ${template.words}`;
  document.getElementById("shown").srcdoc = POLICY + template.html;
  const file = new Blob([template.html], { type: "text/html" });
  document.getElementById("save").href = URL.createObjectURL(file);
}
