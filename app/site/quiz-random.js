// Numbers that look random and are the same again for the same seed, so that a reload asks the same questions.

/** Mulberry32, by Tommy Ettinger (public domain). @returns {() => number} in [0, 1) */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class Dice {
  constructor(seed) {
    this.next = randomFrom(seed);
  }

  /** A whole number from `low` to `high`, both possible. */
  whole(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick(list) {
    return list[this.whole(0, list.length - 1)];
  }

  shuffled(list) {
    const out = [...list];
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.whole(0, i);
      [out[i], out[j]] = [out[j], out[i]];
    }
    return out;
  }
}

export function freshSeed() {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}
