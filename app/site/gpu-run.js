// Has the server replay what is on the screen: submits it, follows it, stops it, and finds it again after a reload.

import {count, h, setText} from "./replay-dom.js";
import {gigabytes} from "./gpu-words.js";

const FIRST_WAIT = 1000; // ms before the next try when the connection is lost; doubled each time
const LONGEST_WAIT = 15_000;
const UNDER_WAY = ["waiting", "running"];

export class Run {
  #following = null; // of the replay that is followed: {id, stop: AbortController}

  /**
   * @param {object} lab api, status, offer, calls
   * @param {(answer: string) => Promise<void>} took is given the server's answer when there is a measurement
   */
  constructor(lab, took) {
    this.lab = lab;
    this.took = took;
    this.device = h("p", {class: "gpu-device"});
    this.terms = h("p", {class: "quiet"});
    this.go = h("button", {type: "button", class: "ghost gpu-go", text: "Measure this replay", on: {click: () => this.#submit()}});
    this.again = h("button", {type: "button", class: "ghost", text: "Look again", on: {click: () => this.#look()}});
    this.stop = h("button", {type: "button", class: "ghost", text: "Cancel", on: {click: () => this.#cancel()}});
    this.bar = h("progress", {max: "1", "aria-label": "Replay on the GPU"});
    this.says = h("p", {class: "gpu-says", role: "status"});
    this.notices = h("ul", {class: "gpu-notices"});
    this.field = h("input", {type: "password", id: "gpu-token", autocomplete: "off", spellcheck: "false"});
    this.form = h("form", {on: {submit: (event) => { event.preventDefault(); this.#token(); }}},
      h("label", {for: "gpu-token", text: "Token"}), this.field, h("button", {class: "ghost", text: "Use it"}));
    this.node = h("div", {class: "gpu-run"}, this.device, this.terms, this.form,
      h("div", {class: "gpu-line"}, this.go, this.again, this.bar, this.stop, this.says), this.notices);
    this.told();
  }

  /** The server has said how it stands. */
  told() {
    const {api, status} = this.lab;
    this.lab.name(); // of the button that opens the panel
    this.node.hidden = !api || !status;
    if (this.node.hidden) return;
    const {settings, devices = []} = status;
    const {memory_bytes: memory, free_bytes: free} = devices[settings?.device] ?? {};
    const room = memory && free !== undefined ? ` ${gigabytes(free, 0)} of its ${gigabytes(memory, 0)} are free.` : "";
    setText(this.device, status.token ? `${status.wrong ? "That token is not the right one." : "This server asks for a token."} It was printed when the server was started.`
      : status.error ? `The server does not offer it: ${status.error}` : status.available ? status.sentence + room : `This server cannot replay on a GPU. ${status.sentence}`);
    setText(this.terms, status.available ? `${count(settings.layers, "layer")} of ${settings.shape} in ${settings.dtype}, at most ${status.time_limit_s} s. The trace, its limits and options are sent to the server that this page came from; your code never is.` : "");
    this.form.hidden = !status.token;
    this.#draw();
  }

  /** Follow the replay that was under way when the page was left. */
  resume() {
    const id = this.lab.offer.job.get();
    if (id && this.#following?.id !== id) this.#follow(id);
  }

  #draw() {
    const {status} = this.lab;
    const busy = this.#following !== null || this.submitting === true;
    this.go.hidden = busy || !status?.available;
    this.again.hidden = busy || status?.available || status?.token === true;
    this.stop.hidden = this.#following === null;
    this.bar.hidden = !busy;
  }

  #say(text, bad = false) {
    setText(this.says, text);
    this.says.classList.toggle("gpu-bad", bad);
  }

  async #token() {
    const token = this.field.value.trim();
    if (!token) return;
    this.lab.offer.token.set(token);
    this.field.value = "";
    await this.#look();
    if (this.lab.status.available) this.go.focus();
    this.resume();
  }

  async #look() {
    try {
      this.lab.status = await this.lab.api.status();
      this.#say("");
    } catch {
      this.#say("There is no connection to the server.", true);
    }
    this.told();
  }

  async #submit() {
    this.submitting = true;
    this.notices.replaceChildren();
    this.#say("Sending the trace");
    this.bar.removeAttribute("value");
    this.#draw();
    try {
      const {data} = await this.lab.calls.call("replay_request", {});
      const {id} = await this.lab.api.submit(data.body);
      this.lab.offer.job.set(id);
      this.submitting = false;
      this.#follow(id);
      this.stop.focus();
    } catch (error) {
      this.submitting = false;
      this.#failed(error, "The trace could not be sent: there is no connection to the server.");
      this.#draw();
      if (!this.go.hidden) this.go.focus();
    }
  }

  /** An answer that is no success, or none at all. */
  #failed(error, unreachable) {
    if (error.status === 401) {
      this.lab.status = {token: true, wrong: this.lab.offer.token.get() !== null};
      this.told();
      this.#say("");
    } else this.#say(error.status || error.name !== "TypeError" ? error.message : unreachable, true);
  }

  async #cancel() {
    const {id, stop} = this.#following;
    this.#say("Cancelling");
    try {
      const state = await this.lab.api.cancel(id);
      if (this.#following?.id !== id) return; // it ended by itself meanwhile, and has been told
      stop.abort();
      await this.#ended(id, state);
    } catch (error) {
      if (error.status === 404) this.#forgotten(stop);
      else this.#failed(error, "The replay goes on: there is no connection to the server. Try again.");
    }
  }

  async #follow(id) {
    const stop = new AbortController();
    this.#following = {id, stop};
    this.#draw();
    for (let wait = FIRST_WAIT; !stop.signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        for await (const state of this.lab.api.events(id, stop.signal)) {
          wait = FIRST_WAIT / 2;
          if (!UNDER_WAY.includes(state.state)) {
            await this.#ended(id, state);
            return;
          }
          this.#progress(state);
        }
      } catch (error) {
        if (stop.signal.aborted) return;
        if (error.status === 404) {
          this.#forgotten(stop);
          return;
        }
        if (error.status) {
          this.#following = null; // still kept in storage: with the right token it is found again
          this.#failed(error);
          this.#draw();
          return;
        }
      }
      this.#say("The connection to the server is lost. The replay goes on there, and the page goes on trying.", true);
      this.bar.removeAttribute("value");
      await new Promise((resolve) => { setTimeout(resolve, wait); });
    }
  }

  #progress({state, position, progress, notices}) {
    if (state === "waiting") {
      this.bar.removeAttribute("value");
      this.#say(`Waiting: ${count(position, "replay is", "replays are")} before this one.`);
    } else if (progress?.of) {
      this.bar.value = progress.done / progress.of;
      this.#say(`${progress.stage}: ${progress.done} of ${progress.of}`);
    } else {
      this.bar.removeAttribute("value");
      this.#say(progress?.stage ?? "Starting");
    }
    this.#notice(notices);
  }

  #notice(notices) {
    this.notices.replaceChildren(...notices.map((text) => h("li", {text})));
  }

  #forgotten(stop) {
    stop.abort();
    this.lab.offer.job.set(null);
    this.#following = null;
    this.#say("The server does not know this replay any more: it was started again, or has made too many since.", true);
    this.#draw();
  }

  async #ended(id, {state, message, notices}) {
    this.#notice(notices);
    let why = message;
    if (state === "done") {
      this.#say("Fetching the measurement");
      try {
        await this.took(await this.lab.api.result(id));
        why = "Measured: it stands below.";
      } catch (error) {
        why = `The replay is done, but its measurement could not be had. ${error.message}`;
      }
    }
    this.lab.offer.job.set(null);
    const focused = this.node.contains(document.activeElement);
    this.#following = null;
    this.#say(why, state !== "cancelled" && !why.startsWith("Measured"));
    this.#draw();
    if (focused && !this.go.hidden) this.go.focus();
  }
}
