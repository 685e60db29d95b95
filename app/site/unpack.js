// Unpacks our own archives (zip, stored, no encryption) into Pyodide's file system without copying twice.

const END = 0x06054b50;
const ENTRY = 0x02014b50;

/** The files of a zip archive with stored entries: a list of [path, Uint8Array view into `bytes`]. */
export function entries(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.byteLength - 22; // our archives have no comment, so the end record is the last 22 bytes
  if (end < 0 || view.getUint32(end, true) !== END) throw new Error("This is not one of our archives.");
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  const decoder = new TextDecoder();
  const found = [];
  for (let i = 0; i < count; i++) {
    if (view.getUint32(at, true) !== ENTRY || view.getUint16(at + 10, true) !== 0) {
      throw new Error("This archive has an entry that is not stored plainly.");
    }
    const size = view.getUint32(at + 20, true);
    const nameLength = view.getUint16(at + 28, true);
    const extraLength = view.getUint16(at + 30, true);
    const commentLength = view.getUint16(at + 32, true);
    const local = view.getUint32(at + 42, true);
    const name = decoder.decode(bytes.subarray(at + 46, at + 46 + nameLength));
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    if (!name.endsWith("/")) found.push([name, bytes.subarray(start, start + size)]);
    at += 46 + nameLength + extraLength + commentLength;
  }
  return found;
}

/** Writes the files of an archive below `root` in the file system `FS` (Emscripten's). */
export function unpack(FS, bytes, root) {
  const made = new Set();
  for (const [name, content] of entries(bytes)) {
    const path = `${root}/${name}`;
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!made.has(folder)) {
      FS.mkdirTree(folder);
      made.add(folder);
    }
    FS.writeFile(path, content, { canOwn: true });
  }
}
