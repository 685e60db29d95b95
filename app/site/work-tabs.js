// Notices other tabs that have the same exercise open. Only presence travels: what is saved is read from storage.

export class Tabs {
  #channel = null;
  #exercise = null;
  #others = new Map(); // tab → exercise
  #me = Math.random().toString(36).slice(2);

  /** @param {string} name of the channel, with the site's path  @param {() => void} changed */
  constructor(name, changed) {
    this.changed = changed;
    try {
      this.#channel = new BroadcastChannel(name);
    } catch {
      return; // a browser without it still notices what another tab saves
    }
    this.#channel.onmessage = ({data}) => this.#heard(data);
    addEventListener("pagehide", () => this.#say("gone"));
    addEventListener("pageshow", (event) => { if (event.persisted) this.#say("here", true); });
  }

  /** This tab shows `exercise` now. */
  open(exercise) {
    if (exercise === this.#exercise) return;
    this.#exercise = exercise;
    this.#say("here", true);
    this.changed();
  }

  /** Whether another tab shows `exercise` too. */
  elsewhere(exercise) {
    return [...this.#others.values()].includes(exercise);
  }

  #say(what, answer = false) {
    this.#channel?.postMessage({tab: this.#me, what, exercise: this.#exercise, answer});
  }

  #heard(data) {
    if (typeof data?.tab !== "string" || typeof data.exercise !== "string") return;
    if (data.what === "gone") this.#others.delete(data.tab);
    else if (this.#others.size < 50) this.#others.set(data.tab, data.exercise);
    if (data.answer === true && this.#exercise) this.#say("here");
    this.changed();
  }
}
