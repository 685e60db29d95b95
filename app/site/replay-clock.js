// Where the cursor stands, and how it moves: it glides while playing, settles on an iteration when it stops.

const GLIDE = 190; // ms from one iteration to another when it is asked for
const RAMP = 110; // ms in which play comes up to speed
const LONG = 400; // iterations beyond which 1× is a minute for the whole run, not six a second
export const SPEEDS = [1, 2, 4, 8];

/**
 * The position is a real number: t means the middle of iteration t. While playing, the iteration is the one under
 * the cursor; a step counts at once, and the cursor follows.
 */
export class Clock {
  #position = 1;
  #velocity = 0;
  #frame = 0;
  #then = 0;
  #glide = null;
  #carry = 0;

  /** @param {{moved: (position: number) => void, turned: (iteration: number, reason: string) => void, state: () => void}} on */
  constructor(on) {
    this.on = on;
    this.last = 1;
    this.iteration = 1;
    this.playing = false;
    this.speed = 1;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  get position() {
    return this.#position;
  }

  /** Iterations a second at 1×. */
  get pace() {
    return this.last > LONG ? this.last / 60 : 6;
  }

  /** A run of another length; the iteration stays if it can. */
  setLast(last) {
    this.last = last;
    if (this.iteration > last) this.seek(last, "show", false);
    else if (!this.#frame) this.#move(this.iteration);
  }

  /** Go to iteration t (rounded and clamped). `glide` moves the cursor there in sight. */
  seek(t, reason, glide = true) {
    const to = Math.min(this.last, Math.max(1, Math.round(t) || 1));
    this.#turn(to, reason);
    if (this.playing) {
      this.#glide = null;
      this.#move(to);
      return;
    }
    if (!glide || this.still.matches) {
      this.#glide = null;
      this.#move(to);
      return;
    }
    this.#glide = {from: this.#position, to, start: 0};
    this.#run();
  }

  play() {
    if (this.playing) return;
    if (this.iteration >= this.last) this.seek(1, "play", false);
    if (this.last <= 1) return;
    this.playing = true;
    this.#velocity = 0;
    this.#carry = 0;
    this.#glide = null;
    this.#run();
    this.on.state();
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.#glide = {from: this.#position, to: this.iteration, start: 0};
    this.#run();
    this.on.state();
  }

  #run() {
    if (this.#frame) return;
    this.#then = 0;
    this.#frame = requestAnimationFrame((now) => this.#tick(now));
  }

  #tick(now) {
    const passed = this.#then ? Math.min(100, now - this.#then) : 16;
    this.#then = now;
    this.#frame = 0;
    if (this.playing) this.#advance(passed);
    else if (this.#glide) this.#slide(now);
    if (this.playing || this.#glide) this.#frame = requestAnimationFrame((next) => this.#tick(next));
  }

  #advance(passed) {
    const target = this.pace * this.speed;
    this.#velocity += (target - this.#velocity) * (1 - Math.exp(-passed / RAMP));
    if (this.still.matches) { // no gliding: whole iterations, at the same rate
      this.#carry += (target * passed) / 1000;
      const whole = Math.floor(this.#carry);
      this.#carry -= whole;
      if (whole) this.#arrive(Math.min(this.last, this.iteration + whole));
    } else this.#arrive(Math.min(this.last, this.#position + (this.#velocity * passed) / 1000));
  }

  #arrive(position) {
    this.#move(position);
    this.#turn(Math.min(this.last, Math.floor(position + 0.5)), "play");
    if (position >= this.last) {
      this.playing = false;
      this.on.state();
    }
  }

  #slide(now) {
    const glide = this.#glide;
    glide.start ||= now;
    const share = Math.min(1, (now - glide.start) / GLIDE);
    this.#move(glide.from + (glide.to - glide.from) * (1 - (1 - share) ** 3));
    if (share === 1) this.#glide = null;
  }

  #move(position) {
    this.#position = position;
    this.on.moved(position);
  }

  #turn(iteration, reason) {
    if (iteration === this.iteration) return;
    this.iteration = iteration;
    this.on.turned(iteration, reason);
  }
}
