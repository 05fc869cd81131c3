// SPDX-License-Identifier: MIT
// Counts words, in a marked part.
const fs = require("fs");

function count(text) {
  const seen = new Map();
  for (const word of text.split(/\s+/)) {
    const key = word.toLowerCase();
    seen.set(key, (seen.get(key) || 0) + 1);
  }
  return seen;
}

function main() {
  const text = Array.from({ length: 3000 }, (_, i) => `Word${i % 311} and${i % 97}`).join(" ");
  count(text);
  fs.existsSync("/.fizeau/start/words");
  const n = count(text).size;
  fs.existsSync("/.fizeau/stop/words");
  console.log(n);
}

main();
