// A preview for authors: asks the server for newer content, says what is wrong with it, and reloads when there is some.
// What was typed is saved before; where it cannot be saved, the author is asked.

import {notice} from "./notices.js";

const PAUSE = 1000; // ms between two questions
const PLACE = "serving-lab preview scroll";

/**
 * @param {string} content what this page was made from  @param {{flush: () => boolean, near: () => void}} code
 *   flush: saves what was typed, and says whether all of it is kept; near: builds the exercises now
 */
export function setUpPreview(content, code) {
  let told = "";
  let reloading = false;
  comeBack(code);

  const reload = () => {
    reloading = true;
    sessionStorage.setItem(PLACE, String(top()));
    location.reload();
  };

  async function ask() {
    let found = {content, problems: [], building: false};
    try {
      found = await (await fetch("preview.json", {cache: "no-store"})).json();
      if (told === "gone") told = "";
    } catch {
      tell("gone", "The preview's server does not answer. What you typed is saved in this browser.");
      return;
    }
    if (found.content !== content) {
      const kept = code.flush();
      if (kept && !editing()) reload();
      else if (kept) tell("editing", "There is newer content. The trace that you edit here would be lost.", {label: "Reload", run: reload});
      else tell("keep", "There is newer content, and the browser does not save what you typed here: copy it first.", {label: "Reload without it", run: reload});
      return;
    }
    const {problems} = found;
    tell(problems.join("\n"), problems.length ? `${problems.length === 1 ? "One problem" : `${problems.length} problems`}: ${problems.join(" · ")}` : "");
  }

  function tell(what, words, action) {
    if (what === told) return; // a notice that was dismissed stays away until there is something else to say
    told = what;
    notice("preview", words, action);
  }

  const next = async () => {
    if (!document.hidden) await ask();
    if (!reloading) setTimeout(next, PAUSE);
  };
  next();
}

/** Whether a trace is being edited: only what is in the link outlasts a reload. */
function editing() {
  return document.getElementById("editor")?.hidden === false;
}

/** After a reload: to where the author was. */
function comeBack(code) {
  const place = sessionStorage.getItem(PLACE);
  if (place === null) return;
  sessionStorage.removeItem(PLACE);
  history.scrollRestoration = "manual";
  code.near().then(() => scrollBy(0, top() - Number(place)));
}

/** Where the exercises stand on the screen: what is above them may have another height next time. */
function top() {
  return document.getElementById("code").getBoundingClientRect().top;
}
