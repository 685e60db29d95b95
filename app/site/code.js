// Learners write the code: reads back saved work and progress at once, and builds the section when the learner is near.

import {Code} from "./work-code.js";
import {Progress} from "./work-progress.js";
import {Results, standing} from "./work-results.js";
import {Store} from "./work-store.js";
import {setUpQuiz} from "./quiz.js";
import {Yours} from "./code-yours.js";
import {h} from "./replay-dom.js";

const NEAR = "300px"; // about a turn of the wheel before it comes into view

/**
 * @param {object} context config and base of the site, view (the replay), runner, key (name → storage key),
 *   replay (the course document)
 * @returns {{join: (payload: object) => object, flush: () => boolean, near: () => Promise<void>}} join: what the replay shall
 *   draw of a payload from Python; near: builds the section now
 */
export function setUpCode({config, base, view, runner, key, replay}) {
  const place = document.getElementById("code-place");
  let section = null;
  const store = new Store(key, () => section?.storageChanged());
  const progress = new Progress(document.getElementById("progress"), store);
  const yours = new Yours(view, runner);
  let payload = null;
  progress.follow(view.root, () => payload);
  setUpQuiz({place: document.getElementById("quiz"), replay, store, progress});

  const work = {store, codes: new Map(), results: new Results(store, () => changed())};
  let exercises = null;
  work.hash = (id) => (work.codes.get(id)?.hash ?? null);
  work.standings = () => {
    const entries = work.results.list();
    return exercises.map((exercise) => {
      const states = entries.filter((entry) => entry.exercise === exercise.id).map((entry) => standing(entry, exercise, work.hash(exercise.id)));
      return [exercise.id, states.includes("current") ? "passed" : states.length ? "outdated" : ""];
    });
  };

  /** Code or results have changed. */
  function changed() {
    if (!exercises) return;
    section?.standings();
    const passed = work.standings().filter(([, state]) => state === "passed").length;
    progress.set("code", passed, exercises.length, exercises.length === 1 ? "exercise passed" : "exercises passed");
  }

  let loading = null;
  /** Fetch the exercises and read back what is saved of each; a failure may be tried again. */
  function load() {
    loading ??= fetch(new URL("exercises.json", import.meta.url)).then(async (answer) => {
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      const found = (await answer.json()).exercises;
      for (const exercise of found) {
        work.codes.set(exercise.id, new Code(exercise, store, (what) => {
          section?.codeChanged(exercise.id, what);
          changed();
        }));
      }
      exercises = found;
      changed();
    }).catch((error) => {
      loading = null;
      throw error;
    });
    return loading;
  }

  async function build() {
    try {
      // Fetched side by side; the section itself is of no use to who only watches the replay.
      const [{CodeSection}] = await Promise.all([import("./code-section.js"), load()]);
      if (section) return;
      section = new CodeSection(place, work, {
        exercises, runner, yours, ace: new URL(`${config.folders.vendor}ace/`, base), channel: key("tabs"),
        solutions: config.solutions,
        figures: Object.fromEntries(Object.entries(replay.policies).map(([name, {metrics}]) => [name, metrics])),
        // A phone's own text field is easier to handle than any editor.
        plain: matchMedia("(pointer: coarse) and (max-width: 720px)").matches,
      });
      place.classList.add("built");
      // The page's own Python starts first; who presses Check before is served all the same.
      pythonSettled().then(() => runner.warm()).catch(() => { /* who presses Check or Run is told why */ });
    } catch (error) {
      const why = error instanceof TypeError ? "there is no connection to the lab's server" : error.message;
      place.replaceChildren(h("p", {class: "notice"}, h("span", {text: `The exercises could not be loaded: ${why}.`}),
        h("button", {type: "button", class: "ghost", text: "Try again", on: {click: build}})));
    }
  }

  const near = new IntersectionObserver((entries) => {
    if (!entries.some(({isIntersecting}) => isIntersecting)) return;
    near.disconnect();
    build();
  }, {rootMargin: NEAR});
  near.observe(place);
  (window.requestIdleCallback ?? setTimeout)(() => load().catch(() => progress.unknown("code")), {timeout: 3000});

  /** Save what was typed. @returns {boolean} whether all of it stands in the browser's storage now */
  const flush = () => {
    for (const code of work.codes.values()) code.flush();
    return !store.trouble && ![...work.codes.values()].some(({conflict}) => conflict);
  };
  addEventListener("pagehide", flush);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") flush();
    else for (const code of work.codes.values()) code.look();
  });
  addEventListener("storage", ({key: name}) => {
    for (const code of work.codes.values()) if (name === null || name === key(code.name)) code.look();
    if (name === null || name === key("results")) changed();
  });

  return {
    flush,
    near: build,
    join(next) {
      payload = next;
      return yours.join(next);
    },
  };
}

/** Resolves when the page's Python is ready, or has failed. */
function pythonSettled() {
  const root = document.documentElement;
  const settled = () => root.dataset.python === "ready" || root.dataset.python === "failed";
  return new Promise((resolve) => {
    if (settled()) {
      resolve();
      return;
    }
    const watch = new MutationObserver(() => {
      if (!settled()) return;
      watch.disconnect();
      resolve();
    });
    watch.observe(root, {attributeFilter: ["data-python"]});
  });
}
