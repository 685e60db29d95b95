// The panel of one policy about the request that is lit: its block table now, and its life. Its place is reserved.

import {chip} from "./replay-chip.js";
import {h, setText} from "./replay-dom.js";
import {blockWords, lifeWords} from "./replay-words.js";

export class RequestPanel {
  constructor() {
    this.who = h("span", {class: "who"});
    this.table = h("span", {class: "table"});
    this.life = h("p", {class: "life"});
    this.node = h("div", {class: "request-panel"}, h("p", {class: "block"}, this.who, this.table), this.life);
  }

  /** @param {object|null} request the one that is lit */
  update(policy, request, pinned, t, seen) {
    this.node.classList.toggle("none", !request);
    if (!request) {
      this.who.replaceChildren();
      this.shown = null;
      setText(this.table, "Point at a request to see its block table here; click to keep it.");
      setText(this.life, "");
      return;
    }
    if (this.shown !== request) {
      this.shown = request;
      this.who.replaceChildren(chip(request));
    }
    const words = blockWords(policy, request, t);
    setText(this.table, `${/^\d/.test(words) ? ": " : " "}${words}`);
    setText(this.life, `${lifeWords(policy, request, seen)}${pinned ? " · pinned, Esc lets go" : ""}`);
  }
}
