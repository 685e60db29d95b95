// The trace picker of a site with several traces: which of them is on the screen, and a way to the others.

const select = document.getElementById("trace-choice");

/**
 * @param {(next: object) => void} open goes to a state: {limits, iteration, text?}, without text to the first trace
 * @returns {{ready: (on: boolean) => void, show: (payload: object) => void, has: (sha256: string) => boolean}}
 */
export function setUpTraces(open) {
  if (!select) return {ready() {}, show() {}, has: () => false};
  let traces = [];
  const loaded = fetch(new URL("traces.json", import.meta.url)).then((answer) => answer.json()).then((found) => {
    traces = found.traces;
  });
  loaded.catch(() => { /* the page shows its first trace; the others cannot be had without a connection */ });
  const own = new Option("A trace of its own", "own");
  own.disabled = true;
  let shown = null; // the hash of the trace on the screen

  const mark = () => {
    const at = traces.findIndex(({sha256}) => sha256 === shown);
    if (shown === null || !traces.length) return;
    if (at < 0) select.append(own);
    else own.remove();
    select.value = at < 0 ? "own" : String(at);
  };
  loaded.then(mark, () => {});

  select.addEventListener("change", () => {
    const {text} = traces[Number(select.value)];
    open(select.value === "0" ? {limits: {}, iteration: null} : {limits: {}, iteration: null, text});
  });

  return {
    /** Python can take a trace, or not. */
    ready(on) {
      if (on) loaded.then(() => { select.disabled = false; }, () => {});
      else select.disabled = true;
    },
    show({replay}) {
      shown = replay.trace.sha256;
      mark();
    },
    has: (sha256) => traces.some((trace) => trace.sha256 === sha256),
  };
}
