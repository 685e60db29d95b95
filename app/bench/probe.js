// Runs in a measured page before its own scripts, and notes when what a visitor waits for has come.
// Times are ms since the navigation began. `asked`: {kind: "site" | "plain" | "bare", label, iteration, pages}.

(asked) => {
  const marks = {};
  let blocked = 0;
  window.serving_lab_probe = {marks, blocked: () => blocked};
  const mark = (name) => { marks[name] ??= performance.now(); };
  const LOOK = 5; // ms between two looks

  /** Looks until `found()` says true, once; then `next`. What is not there yet may throw. */
  const when = (found, next) => {
    const look = () => {
      let there = false;
      try {
        there = found();
      } catch { /* not yet */ }
      if (there) next();
      else setTimeout(look, LOOK);
    };
    look();
  };

  new PerformanceObserver((list) => {
    for (const {name, startTime} of list.getEntries()) if (name === "first-contentful-paint") marks.content = startTime;
  }).observe({type: "paint", buffered: true});
  new PerformanceObserver((list) => {
    // As "total blocking time" counts: what goes beyond 50 ms keeps a visitor waiting.
    for (const {duration} of list.getEntries()) blocked += Math.max(0, duration - 50);
  }).observe({type: "longtask", buffered: true});

  /** A model of the page's live document. The last document is the one that Python answers to. */
  const live = () => {
    const documents = [...window.Bokeh.documents].reverse();
    for (const one of documents) {
      const models = [...one._all_models.values()];
      const field = models.find((model) => model.type === "Spinner" && model.title === asked.label);
      const pools = models.filter((model) => model.type === "Span" && model.name === "pool");
      if (field && pools.length) return {field, pools};
    }
    throw new Error("not drawn");
  };

  /** Change a limit as its field does, and wait until both charts show what Python made of it. */
  const turn = () => {
    mark("offered");
    const {field, pools} = live();
    field.value = asked.pages;
    when(() => pools.every((pool) => pool.location === asked.pages), () => mark("interactive"));
  };

  if (asked.kind === "site") {
    const slider = () => document.querySelector("#experiment input[type=range]");
    const flags = () => [...document.querySelectorAll("#experiment .side .flag")];
    const at = (t) => flags().length > 1 && flags().every((flag) => flag.textContent === String(t));
    const scrub = (t) => {
      slider().value = t;
      slider().dispatchEvent(new Event("input", {bubbles: true}));
    };
    when(() => Number(slider().max) > asked.iteration && at(1), () => {
      scrub(asked.iteration);
      when(() => at(asked.iteration), () => requestAnimationFrame(() => {
        mark("scrubbable");
        scrub(1);
      }));
    });
    when(() => document.documentElement.dataset.python === "ready" && live(), turn);
  } else if (asked.kind === "plain") {
    // Panel takes its veil away in the turn in which it connects the document to Python.
    when(() => document.readyState !== "loading" && !document.body.classList.contains("pn-loading") && live(), turn);
  } else {
    when(() => document.documentElement.dataset.python === "ready", () => mark("offered"));
    when(() => document.documentElement.dataset.answer === "40", () => mark("interactive"));
  }
}
