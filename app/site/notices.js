// Sentences above the experiment, each under a name: a new one takes the place of the old, "" takes it away.

/** @param {string} name  @param {string} text  @param {{label: string, run: () => void}|null} action */
export function notice(name, text, action = null) {
  document.getElementById(`notice-${name}`)?.remove();
  if (!text) return;
  const box = document.createElement("div");
  box.className = "notice";
  box.id = `notice-${name}`;
  const words = document.createElement("span");
  words.textContent = text;
  box.append(words);
  for (const {label, run} of [...(action ? [action] : []), {label: "Dismiss", run: () => box.remove()}]) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "ghost";
    button.textContent = label;
    button.addEventListener("click", run);
    box.append(button);
  }
  document.getElementById("notices").append(box);
}
