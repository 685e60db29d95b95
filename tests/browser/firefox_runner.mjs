// node firefox_runner.mjs PUPPETEER_FOLDER FIREFOX URL JOB: a learner's code in Firefox. JOB is {deadline, checks:
// [[exercise, source]…], run: source}; prints {results: [RESULT…], run} as JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, executablePath, url, job] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const { default: puppeteer } = await import(pathToFileURL(require.resolve("puppeteer-core")).href);
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true, protocolTimeout: 200_000 });
try {
  const page = await browser.newPage();
  await page.goto(url);
  await page.waitForSelector(".side");
  const told = await page.evaluate(async ({ deadline, checks, run }) => {
    const config = JSON.parse(document.getElementById("site-config").textContent);
    const { LearnerRunner } = await import(new URL(config.folders.assets + "runner.js", document.baseURI));
    const runner = new LearnerRunner({ config, base: document.baseURI, deadline });
    await runner.warm();
    const results = [];
    for (const [exercise, source] of checks) results.push(await runner.check(exercise, source));
    return JSON.stringify({ results, run: await runner.run(run) });
  }, JSON.parse(job));
  console.log(told);
} finally {
  await browser.close();
}
