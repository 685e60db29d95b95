// Light, dark, or as the system has it. Kept in storage where the browser allows.

const ORDER = ["system", "light", "dark"];

/** Wire the button; `changed()` is called whenever the colours on the page may have changed. */
export function setUpTheme(button, key, changed) {
  let theme = "system";
  try {
    theme = ORDER.includes(localStorage.getItem(key)) ? localStorage.getItem(key) : "system";
  } catch { /* storage is blocked: the choice lasts as long as the page */ }
  const apply = () => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    changed();
  };
  button.addEventListener("click", () => {
    theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
    try {
      localStorage.setItem(key, theme);
    } catch { /* as above */ }
    apply();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  apply();
}
