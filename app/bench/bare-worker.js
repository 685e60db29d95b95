// Starts the runtime as its documentation says, and doubles numbers in Python.

importScripts("pyodide/pyodide.js");

loadPyodide().then((pyodide) => {
  self.onmessage = ({data}) => self.postMessage(pyodide.runPython(`${data} * 2`));
  self.postMessage("ready");
});
