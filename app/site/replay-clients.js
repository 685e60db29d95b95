// What each client was served, as a table under the pages of one policy; only when an option looks at clients.

import {h, own} from "./replay-dom.js";
import {short} from "./replay-option-words.js";

const COLUMNS = [
  ["requests", "requests"], ["completed", "completed"], ["refused", "refused"], ["tokens", "tokens"],
  ["wait_mean", "wait, mean"], ["wait_p95", "P95"], ["wait_max", "largest"],
  ["ttft_mean_ms", "TTFT, mean ms"], ["ttft_p99_ms", "P99 ms"], ["ttft_max_ms", "largest ms"],
];

export class ClientsTable {
  constructor() {
    this.box = h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Clients"});
    this.node = h("div", {class: "clients", hidden: true}, this.box);
  }

  /** @param {object} policy  @param {object} colors of the clients; own data, checked before they are used */
  show(policy, colors) {
    const {clients} = policy.metrics;
    this.node.hidden = !clients;
    if (!clients) return;
    const names = Object.keys(clients);
    const columns = COLUMNS.filter(([name]) => names.some((client) => clients[client][name] !== undefined));
    this.box.replaceChildren(h("table", {},
      h("caption", {text: "Clients: waits in iterations; P95 and P99 by the lower order statistic."}),
      h("thead", {}, h("tr", {}, h("th", {scope: "col", text: "client"}), ...columns.map(([, text]) => h("th", {scope: "col", class: "number", text})))),
      h("tbody", {}, ...names.map((client) => {
        const mark = h("i", {class: "swatch client"});
        const color = own(colors, client);
        if (/^#[0-9a-f]{6}$/i.test(color ?? "")) mark.style.setProperty("--c", color);
        return h("tr", {}, h("th", {scope: "row", title: client}, mark, client || "no name"),
          ...columns.map(([name]) => h("td", {class: "number", text: figure(clients[client][name])})));
      }))));
  }
}

function figure(value) {
  if (value === null || value === undefined) return "–";
  return Number.isInteger(value) ? String(value) : short(value);
}
