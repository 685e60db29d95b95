// One request lit everywhere: which one, for how long, and the colours of all of them as one style sheet.

const INTENT = 60; // ms that a pointer must rest before the picture dims: crossing bars must not flicker

let views = 0;

/**
 * Elements that stand for a request carry data-r, its index in the trace. What is under the pointer or in focus is
 * lit while it is there; a click pins it until Escape or another click.
 */
export class Highlight {
  #hover = null;
  #pinned = null;
  #timer = 0;
  #shown = null;
  #requests = [];
  #sheet = new CSSStyleSheet();
  #colors = "";

  /** @param {HTMLElement} root  @param {(request: object|null, pinned: boolean) => void} changed */
  constructor(root, changed) {
    this.root = root;
    this.changed = changed;
    this.scope = `v${++views}`;
    root.dataset.view = this.scope;
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.#sheet];
    root.addEventListener("pointerover", (event) => this.#over(event));
    root.addEventListener("pointerleave", () => this.#rest(null));
    root.addEventListener("focusin", (event) => {
      if (event.target.matches("button[data-r]") && event.target.matches(":focus-visible")) this.set(this.#of(event.target));
    });
    root.addEventListener("focusout", (event) => {
      if (event.target.matches("button[data-r]") && !event.relatedTarget?.matches?.("button[data-r]")) this.set(null);
    });
    root.addEventListener("click", (event) => {
      const target = event.target.closest("[data-pin][data-r]");
      if (target) this.pin(this.#of(target));
    });
    // Bars are pressed to move the cursor as well: the side that owns them calls keep().
  }

  /** Take the requests of a new document; what was lit or pinned stays so by id, if it is still there. */
  show(requests, byId) {
    this.#requests = requests;
    this.#hover = this.#hover && (byId.get(this.#hover.id) ?? null);
    this.#pinned = this.#pinned && (byId.get(this.#pinned.id) ?? null);
    this.byId = byId;
    this.#apply();
  }

  get request() {
    return this.#hover ?? this.#pinned;
  }

  get pinned() {
    return this.#pinned;
  }

  /** Light a request (null: none) for as long as the pointer or the focus is there. */
  set(request) {
    clearTimeout(this.#timer);
    this.#hover = request;
    this.#apply();
  }

  /** Pin a request; the same again, or null, unpins. */
  pin(request) {
    this.#pinned = request === this.#pinned ? null : request;
    if (!this.#pinned) this.#hover = null;
    this.#apply();
  }

  /** Pin the request of that index; null unpins. */
  keep(index) {
    const request = index === null ? null : this.#requests[index] ?? null;
    if (request !== this.#pinned) this.pin(request);
  }

  #of(element) {
    return this.#requests[Number(element.dataset.r)] ?? null;
  }

  #over(event) {
    if (event.pointerType === "touch" || event.buttons) return;
    const target = event.target.closest("[data-r]");
    // A chart says itself what is under the pointer (ReplayView.highlight), so no late word of ours may undo it.
    if (!target && event.target.closest(".chart-slot")) this.set(null);
    else this.#rest(target ? this.#of(target) : null);
  }

  #rest(request) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.set(request), INTENT);
  }

  #apply() {
    const request = this.request;
    const colors = this.#requests.map((one) => one.color).join();
    const key = request?.index ?? null;
    if (colors !== this.#colors || key !== this.#shown) {
      this.#colors = colors;
      this.#shown = key;
      const scope = `[data-view="${this.scope}"]`;
      const rules = this.#requests.map((one) => `${scope} [data-r="${one.index}"]{--c:${one.color}}`);
      if (request) {
        rules.push(`${scope} [data-r]:not([data-r="${key}"], [data-rs~="${key}"]){opacity:var(--dim)}`);
        rules.push(`${scope} [data-r="${key}"]{--lit:1}`);
      }
      this.#sheet.replaceSync(rules.join("\n"));
    }
    if (request) this.root.dataset.lit = request.id;
    else delete this.root.dataset.lit;
    this.changed(request, Boolean(this.#pinned));
  }
}
