// The line that says how far Python's start is, or why it failed.

const $ = (id) => document.getElementById(id);

/** @param {string} text  @param {number | null} share of the start that is done; null where nothing goes on */
export function showStatus(text, share = null) {
  $("status").classList.remove("failed");
  $("status-text").textContent = text;
  $("status-bar").hidden = share === null;
  if (share !== null) $("status-bar").value = share;
  $("retry").hidden = true;
}

/** Python is not there; it can be tried again. */
export function showFailed(message) {
  $("status").classList.add("failed");
  $("status-text").textContent = message;
  $("status-bar").hidden = true;
  $("retry").hidden = false;
}

/** @param {{label: string, loaded: number, total: number, share: number}} progress as the worker tells it */
export function showProgress({label, loaded, total, share}) {
  const counted = bytesText(loaded, total);
  showStatus(counted ? `${label}, ${counted}` : label, share ?? (total ? loaded / total : 0));
}

/** "4.1 of 10.1 MB", or "" where there is nothing to count. */
function bytesText(loaded, total) {
  if (!total) return "";
  const mb = (n) => (n / 1e6).toFixed(1);
  return `${mb(Math.min(loaded, total))} of ${mb(total)} MB`;
}
