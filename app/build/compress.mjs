// node compress.mjs JOB: JOB/job.json is a list of {file, quality, brotli, gzip}; each file of JOB is written beside
// itself, compressed, under the names given. Runs on all cores, a file at a time.
import { createReadStream, createWriteStream, readFileSync, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { constants, createBrotliCompress, createGzip } from "node:zlib";
import { run } from "./script.mjs";

const [job] = process.argv.slice(2);

async function brotli({ file, brotli, quality }) {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: statSync(`${job}/${file}`).size,
  };
  await pipeline(createReadStream(`${job}/${file}`), createBrotliCompress({ params }), createWriteStream(`${job}/${brotli}`));
}

async function gzip({ file, gzip }) {
  await pipeline(createReadStream(`${job}/${file}`), createGzip({ level: 9 }), createWriteStream(`${job}/${gzip}`));
}

await run(async () => {
  const entries = JSON.parse(readFileSync(`${job}/job.json`, "utf8"));
  await Promise.all(entries.flatMap((entry) => [brotli(entry), gzip(entry)]));
});
