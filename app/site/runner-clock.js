// A deadline by the wall clock that is fair to code which was done in time while the page itself was held up.

/** Milliseconds by which a timer may be late without anybody having been held up. */
const USUAL = 250;

/**
 * Calls `onDue` once `seconds` have passed since the start, or since the last `again()`.
 *
 * An answer waits in the queue while the page is busy, is in the background or the machine sleeps. So when the timer
 * itself comes late, the answer gets as much time again as the timer was late, at most the deadline once more.
 */
export class Deadline {
  constructor(seconds, onDue) {
    this.ms = seconds * 1000;
    this.onDue = onDue;
    this.again();
  }

  again() {
    this.#wait(this.ms, true);
  }

  clear() {
    clearTimeout(this.timer);
  }

  #wait(ms, fair) {
    clearTimeout(this.timer);
    const due = performance.now() + ms;
    this.timer = setTimeout(() => {
      const late = performance.now() - due;
      if (fair && late > USUAL) this.#wait(Math.min(late, this.ms), false);
      else this.onDue();
    }, ms);
  }
}
