// node solutions.mjs RUNTIME JOB: judges solutions in Pyodide with the learner's side and the judge's side in
// interpreters of their own, as on the page. JOB/learner and JOB/judge hold what each has in site-packages,
// JOB/solutions.json is [[exercise, source]…], JOB/results.json gets the results in the same order.
import { readFileSync, writeFileSync } from "node:fs";
import { run, start } from "../../app/build/script.mjs";

const [runtime, job] = process.argv.slice(2);

async function interpreter(side) {
  const pyodide = await start(runtime);
  pyodide.mountNodeFS("/side", `${job}/${side}`);
  pyodide.runPython("import sys; sys.path.insert(0, '/side'); sys.dont_write_bytecode = True");
  return pyodide;
}

await run(async () => {
  const host = (await interpreter("learner")).pyimport("app.page.learner").host();
  const judge = (await interpreter("judge")).pyimport("app.page.judge").Judge();
  const reply = (answer) => JSON.stringify({ answer });
  const results = [];
  for (const [exercise, source] of JSON.parse(readFileSync(`${job}/solutions.json`, "utf8"))) {
    const { name, kind, total } = JSON.parse(judge.begin(exercise, source));
    host.open(source, name, kind);
    const { problem } = JSON.parse(judge.prepared(reply(host.prepare())));
    for (let index = 0; index < total; index++) {
      if (problem) judge.unrun(index);
      else judge.verdict(index, reply(host.run(judge.request(index))));
    }
    results.push(JSON.parse(judge.result()));
  }
  writeFileSync(`${job}/results.json`, JSON.stringify(results));
});
