// Bokeh's side of the page: loads BokehJS, puts Panel's document into the slots, and keeps it in step with Python.

/** Load classic scripts in order; rejects with one sentence that names the file. */
export async function loadScripts(urls) {
  await Promise.all(urls.map((url) => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = url;
    script.async = false; // in order, but fetched side by side
    script.onload = resolve;
    script.onerror = () => {
      script.remove();
      reject(new Error(`The file ${url.split("/").pop()} did not load.`));
    };
    document.head.append(script);
  })));
}

/**
 * Bokeh gives a number field two nameless buttons. The field itself answers to the arrow keys, so they are left to
 * the mouse: out of the tab order, and unspoken.
 */
function quietSpinners(box) {
  for (const element of box.querySelectorAll("*")) {
    if (element.matches(".bk-spin-btn")) {
      element.tabIndex = -1;
      element.setAttribute("aria-hidden", "true");
    }
    if (element.shadowRoot) quietSpinners(element.shadowRoot);
  }
}

/** The parts of the document that the scrubber moves or lights; Python never hears of these changes. */
const PAGE_OWNED = new Set(["cursor"]);

export class PanelBridge {
  /** @param slots (name) => element of that slot */
  constructor(slots) {
    this.slots = slots;
    this.document = null;
    this.sendPatch = null;
    this.queue = [];
    this.busy = false;
    this.patching = false;
    this.onHover = () => {};
    this.drawing = Promise.resolve();
  }

  /**
   * Draw a document. What stood in the slots stays until the new one is complete, and is then exchanged in one frame.
   * @param docsJson, renderItems as made by bokeh.embed.util.standalone_docs_json_and_render_items
   * @param slotIds {slot name: root id}
   */
  draw(docsJson, renderItems, slotIds) {
    const turn = this.drawing.then(() => this.#draw(docsJson, renderItems, slotIds));
    this.drawing = turn.catch(() => {}); // one at a time, in order; a failure does not stop the next
    return turn;
  }

  async #draw(docsJson, renderItems, slotIds) {
    const item = renderItems[0];
    const places = Object.entries(slotIds).map(([name, id]) => {
      const box = document.createElement("div");
      box.className = "next";
      box.id = `root-${id}`;
      this.slots(name).append(box);
      item.roots[id] = box.id;
      return {name, box};
    });
    const Bokeh = window.Bokeh;
    let views;
    try {
      [views] = await Bokeh.embed.embed_items(docsJson, renderItems);
    } catch (error) {
      for (const {box} of places) box.remove();
      throw error;
    }
    const next = [...views.roots.values()][0].model.document;
    await new Promise((resolve) => {
      if (next.is_idle) resolve();
      else next.idle.connect(resolve);
      setTimeout(resolve, 3000); // a document that never says that it is idle is shown all the same
    });
    const previous = this.document;
    for (const {name, box} of places) {
      for (const old of this.slots(name).querySelectorAll(":scope > :is(.live, .chart-standin)")) old.remove();
      box.className = "live";
    }
    this.#quietly(() => previous?.clear()); // not a change that anybody made
    for (const {box} of places) quietSpinners(box);
    this.document = next;
    this.#listenToHover();
    this.recolour();
    return next;
  }

  /** Start sending changes that a person makes to Python. */
  link(sendPatch) {
    this.sendPatch = sendPatch;
    this.queue = [];
    this.busy = false;
    this.document.on_change((event) => this.#changed(event), false);
  }

  #changed(event) {
    if (this.patching || event.setter_id === "py" || PAGE_OWNED.has(event.model?.name)) return;
    if (event.model?.type === "Selection" || event.kind === "MessageSent" && !event.msg_data) return;
    // While Python works, only the last value of each property waits.
    this.queue = this.queue.filter((old) => !(event.attr && old.model === event.model && old.attr === event.attr));
    this.queue.push(event);
    if (!this.busy) this.flush();
  }

  /** Python has taken the last patch. */
  idle() {
    this.busy = false;
    this.flush();
  }

  flush() {
    if (!this.queue.length) return;
    this.busy = true;
    const events = this.queue;
    this.queue = [];
    this.sendPatch(this.document.create_json_patch(events));
  }

  apply(patch, buffers) {
    this.patching = true;
    try {
      this.document.apply_json_patch(patch, buffers);
    } finally {
      this.patching = false;
    }
    if (this.last) this.setLast(this.last);
    const figures = this.#models("Figure").length;
    if (figures !== this.figures) this.recolour(); // a chart that was not there before
    this.figures = figures;
  }

  #models(type) {
    const found = [];
    for (const model of this.document?._all_models?.values() ?? []) if (model.type === type) found.push(model);
    return found;
  }

  /** Move the cursor of every chart to iteration t. */
  setCursor(t) {
    this.t = t;
    this.#quietly(() => {
      for (const mark of this.#models("BoxAnnotation")) if (mark.name === "cursor") mark.setv({left: t, right: t + 1});
    });
  }

  /** End every time axis after iteration `last`: a learner's own policy, of which Python knows nothing, may run longer. */
  setLast(last) {
    this.last = last;
    this.#quietly(() => {
      for (const {name, x_range: range} of this.#models("Figure")) {
        if (name?.startsWith("chart-")) range.setv({end: last + 1, reset_end: last + 1}); // others have no iterations on x
      }
    });
  }

  /** Light one request in every chart, or none. */
  highlight(id) {
    this.#quietly(() => {
      for (const source of this.#models("ColumnDataSource")) {
        const ids = source.data?.id;
        if (!ids) continue;
        const index = id === null ? -1 : [...ids].indexOf(id);
        source.selected.indices = index >= 0 ? [index] : [];
      }
    });
  }

  #quietly(change) {
    const before = this.patching;
    this.patching = true;
    try {
      change();
    } finally {
      this.patching = before;
    }
  }

  #listenToHover() {
    for (const source of this.#models("ColumnDataSource")) {
      if (!source.data?.id || !source.properties.inspected) continue;
      source.inspect?.connect?.(() => {
        const [index] = source.inspected.indices;
        this.onHover(index === undefined ? null : source.data.id[index]);
      });
    }
  }

  /** Give the charts the colours of the page; canvas text cannot read CSS properties by itself. */
  recolour() {
    if (!this.document) return;
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(name).trim();
    this.#quietly(() => {
      for (const axis of [...this.#models("LinearAxis"), ...this.#models("LogAxis")]) {
        axis.setv({major_label_text_color: get("--soft"), major_label_text_font: get("--sans"), axis_label_text_color: get("--soft"), axis_label_text_font: get("--sans")});
      }
      for (const grid of this.#models("Grid")) if (grid.grid_line_color !== null) grid.grid_line_color = get("--line");
      for (const span of this.#models("Span")) span.line_color = get("--line-strong");
      for (const label of this.#models("Label")) label.setv({text_color: get("--soft"), text_font: get("--sans")});
      for (const mark of this.#models("BoxAnnotation")) if (mark.name === "cursor") mark.fill_color = get("--now");
    });
    if (this.t) this.setCursor(this.t);
    if (this.last) this.setLast(this.last);
  }
}
