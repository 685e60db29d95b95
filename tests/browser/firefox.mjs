// node firefox.mjs PUPPETEER_FOLDER FIREFOX URL: a short visit in Firefox, driven over WebDriver BiDi, which Firefox
// speaks by itself. Prints one JSON object.
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";

const [folder, executablePath, url] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const { default: puppeteer } = await import(pathToFileURL(require.resolve("puppeteer-core")).href);
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
try {
  const page = await browser.newPage();
  const troubles = [];
  page.on("console", (message) => { if (message.type() === "error") troubles.push(message.text()); });
  page.on("pageerror", (error) => troubles.push(String(error)));
  await page.goto(url);
  await page.waitForSelector(".side");
  const figures = () => page.$$eval("[data-metric]", (cards) => cards.map((card) =>
    [card.closest(".side").dataset.policy, card.dataset.metric, Number(card.dataset.value)]));
  const first = await figures();
  await page.waitForSelector("html[data-python=ready], html[data-python=failed]", { timeout: 120_000 });
  const python = await page.$eval("html", (html) => html.dataset.python);
  const status = await page.$eval("#status-text", (node) => node.textContent);
  await page.$$eval("button", (all) => all.find((button) => button.textContent.trim() === "Skip")?.click());
  await page.$eval("#experiment input[type=range]", (input) => {
    input.value = "15";
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const words = await page.$eval(".side[data-policy=continuous] .words", (node) => node.textContent);
  // Open a link's state in place: the worker answers with a new replay.
  await page.evaluate(() => { location.hash = "#num_pages=14"; });
  await page.waitForFunction(() => Number(document.querySelector(
    ".side[data-policy=static] [data-metric=iterations]").dataset.value) !== 116, { timeout: 60_000 });
  console.log(JSON.stringify({ version: await browser.version(), first, python, status, words, starved: await figures(), troubles }));
} finally {
  await browser.close();
}
