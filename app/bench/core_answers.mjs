// What the two kinds of Pyodide workers share.

/**
 * A function that answers a case (a line of JSON; see lab/bench/worker.py) in a Pyodide of its own.
 *
 * @param loadPyodide the runtime's
 * @param indexURL where the runtime's files are
 * @param archive a zip of `lab`, with its compiled parts if there are any
 * @param core "pure" has the compiled parts left alone
 */
export async function answerer(loadPyodide, indexURL, archive, core) {
  const env = core === "pure" ? { SERVING_LAB_CORE: "pure" } : {};
  const pyodide = await loadPyodide({ indexURL, env, stdout: () => {} });
  pyodide.unpackArchive(archive, "zip", { extractDir: "/bench" });
  pyodide.runPython("import sys; sys.path.insert(0, '/bench')");
  return pyodide.pyimport("lab.bench.worker").answer;
}
