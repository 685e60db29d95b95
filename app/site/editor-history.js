// Undo and redo. What belongs to one gesture (a drag, the typing into one cell) is one step.

const MOST = 300; // steps

export class History {
  #past = [];
  #future = [];
  #gesture = null;

  /** @param {object} value never changed afterwards, only replaced */
  constructor(value) {
    this.now = value;
  }

  /** @param {string|null} gesture steps in a row that name the same gesture are one */
  push(value, gesture = null) {
    if (value === this.now) return;
    if (gesture === null || gesture !== this.#gesture) {
      this.#past.push(this.now);
      if (this.#past.length > MOST) this.#past.shift();
    }
    this.#gesture = gesture;
    this.#future = [];
    this.now = value;
  }

  /** The next step is one of its own, whatever it is called. */
  pause() {
    this.#gesture = null;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  undo() {
    if (!this.canUndo) return false;
    this.#future.push(this.now);
    this.now = this.#past.pop();
    this.#gesture = null;
    return true;
  }

  redo() {
    if (!this.canRedo) return false;
    this.#past.push(this.now);
    this.now = this.#future.pop();
    this.#gesture = null;
    return true;
  }
}
