// Links to a section of the page go there and leave the state in the address.

import {isState} from "./state.js";

export function setUpSectionLinks() {
  document.addEventListener("click", (event) => {
    const anchor = event.target.closest?.('a[href^="#"]');
    if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || isState(anchor.hash)) return;
    const section = document.getElementById(anchor.hash.slice(1));
    if (!section) return;
    event.preventDefault();
    section.scrollIntoView();
    section.focus({preventScroll: true});
  });
}
