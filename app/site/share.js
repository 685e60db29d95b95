// Hands the lab's state on: as a link where it is short enough, else as a file; and opens such files.

import {notice} from "./notices.js";
import {choose, fileName, labFile, ofFile, save, stateIn} from "./share-file.js";
import {LONGEST} from "./state.js";

/**
 * @param {{hashNow: () => Promise<string>, openState: (next: object, told: object) => void, name: () => string,
 *   measurement: (file: File) => void}} lab
 * @returns {{open: () => void, saveLab: () => Promise<void>}}
 */
export function setUpSharing({hashNow, openState, name, measurement}) {
  const button = document.getElementById("copy-link");

  async function saveLab() {
    save(fileName(name(), ".lab.json"), labFile(await hashNow()));
  }

  button.addEventListener("click", async () => {
    const hash = await hashNow();
    const url = location.href.split("#")[0] + (hash ? `#${hash}` : "");
    notice("copy", "");
    if (hash.length > LONGEST) {
      notice("copy", `The trace makes a link of ${hash.length.toLocaleString("en")} characters; many places cut links after ${LONGEST.toLocaleString("en")}. Hand it on as a file: it opens with “Open a file”.`,
        {label: "Save it as a file", run: saveLab});
      return;
    }
    try {
      await navigator.clipboard.writeText(url);
      button.textContent = "Link copied";
      setTimeout(() => { button.textContent = "Copy link"; }, 1600);
    } catch {
      notice("copy", `The browser did not allow copying. The link is in the address bar: ${url}`);
    }
  });

  const refused = (why) => notice("file", `${ofFile(why)} What was on the screen stays.`);

  async function open(file) {
    notice("file", "");
    try {
      const next = await stateIn(file);
      if (next.measurement) measurement(file);
      else openState(next, {refuse: refused});
    } catch (error) {
      refused(error.message);
    }
  }

  const ask = () => choose(open);
  document.getElementById("open-file").addEventListener("click", ask);
  return {open: ask, saveLab};
}
