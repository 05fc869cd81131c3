// SPDX-License-Identifier: MIT
export function countWords(text) {
  const counts = new Map();
  for (const word of text.split(" ")) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

export function discount(cents, percent) {
  return cents - Math.floor((cents * percent) / 100);
}

export function sumOf(items, percent) {
  let total = 0;
  for (const item of items) total += discount(item.cents * item.count, percent);
  return total;
}

export function slug(title) {
  return title.toLowerCase().match(/[a-z0-9]+/g).join("-");
}

export function unused(items) {
  return items.map((item) => item.name);
}
