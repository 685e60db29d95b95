// The floor: a page with nothing but a worker that starts the runtime.

const bare = new Worker("bare-worker.js");
bare.onmessage = ({data}) => {
  if (data === "ready") {
    document.documentElement.dataset.python = "ready";
    bare.postMessage(20);
  } else {
    document.documentElement.dataset.answer = data;
  }
};
