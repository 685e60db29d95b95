// The server's API for replays on a GPU: app/serve/cuda_api.py.

/** An answer that is no success: status, and one sentence of the server's. */
export class Refused extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

export class Api {
  /** @param {object} offer of gpu-offer.js */
  constructor(offer) {
    this.offer = offer;
    this.base = new URL("api/cuda", document.baseURI).href;
  }

  async #ask(path, options = {}) {
    const token = this.offer.token.get();
    const headers = {...options.headers, ...(token ? {Authorization: `Bearer ${token}`} : {})};
    const answer = await fetch(this.base + path, {cache: "no-store", credentials: "omit", ...options, headers});
    if (answer.ok) return answer;
    let sentence = `The server answered ${answer.status}.`;
    try {
      sentence = (await answer.json()).error ?? sentence;
    } catch { /* whatever answered is not the lab's server */ }
    throw new Refused(answer.status, sentence);
  }

  /** What is there; {token: true} when a token is wanted, {error} when this is no server of ours. Rejects without a connection. */
  async status() {
    try {
      return await (await this.#ask("")).json();
    } catch (error) {
      if (error.status === 401) return {token: true, wrong: this.offer.token.get() !== null};
      if (error.status) return {error: error.message};
      throw error;
    }
  }

  /** @param {string} body JSON  @returns how the new replay stands */
  async submit(body) {
    return (await this.#ask("/replays", {method: "POST", body, headers: {"Content-Type": "application/json"}})).json();
  }

  async cancel(id) {
    return (await this.#ask(`/replays/${encodeURIComponent(id)}`, {method: "DELETE"})).json();
  }

  /** The whole answer about a replay, as text: with its measurement, if it has one. */
  async result(id) {
    return (await this.#ask(`/replays/${encodeURIComponent(id)}`)).text();
  }

  /** How a replay stands, each time that changes. EventSource would do, but for the token. */
  async* events(id, signal) {
    const answer = await this.#ask(`/replays/${encodeURIComponent(id)}/events`, {signal});
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      const events = text.split("\n\n");
      text = events.pop();
      for (const event of events) {
        const data = event.split("\n").find((line) => line.startsWith("data: "));
        if (data) yield JSON.parse(data.slice(6));
      }
    }
  }
}
