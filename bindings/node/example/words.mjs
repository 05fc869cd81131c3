// SPDX-License-Identifier: MIT
// fizeau bench -- node bindings/node/example/words.mjs

import { bench } from "../fizeau_bench.mjs";

const TEXT = "the quick brown fox jumps over the lazy dog ".repeat(20);

function countWords(text) {
  const counts = new Map();
  for (const word of text.split(" ")) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

await bench("count", () => countWords(TEXT));

let words;
await bench("sort", () => words.sort(), { before: () => { words = TEXT.split(" "); } });
