// SPDX-License-Identifier: MIT
// Words for a cost that grew or shrank: slower and faster for time, larger and smaller for bytes.
// The page's header and a diff's JSON have the words of their metric for the verdicts "slower" and
// "faster" (src/profile/cost_words.h); other verdicts are used as they are.

// Of one: "slower", "larger", "more".
export const oneWord = (header, verdict) => header?.words?.[verdict]?.one ?? verdict;

// After how many: "2 slower", "2 with more".
export const manyWord = (header, verdict) => header?.words?.[verdict]?.many ?? verdict;

// What it is that a function has of its own: "own time", "own bytes", "own instructions".
export const noun = (header) => header?.noun ?? "time";

// The verdict on a cost that changed.
export const verdictOn = (delta) => (delta > 0 ? "slower" : "faster");
