// SPDX-License-Identifier: MIT
import { existsSync } from "node:fs";
import { countWords, slug, sumOf } from "./lib/shop.mjs";

const TEXT = "the quick brown fox jumps over the lazy dog ".repeat(40);
const items = Array.from({ length: 500 }, (_, i) => ({ name: `item ${i}`, cents: (i * 613) % 997, count: (i % 7) + 1 }));

const benchmarks = {
  words: () => countWords(TEXT),
  sum: () => sumOf(items, 5),
  slug: () => slug(TEXT),
  json: () => JSON.parse(JSON.stringify(items)),
  sorted: () => [...items].sort((a, b) => a.cents - b.cents),
};

for (const [name, body] of Object.entries(benchmarks)) {
  body();
  existsSync(`/.fizeau/start/${name}`);
  body();
  existsSync(`/.fizeau/stop/${name}`);
}
