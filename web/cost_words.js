// SPDX-License-Identifier: MIT
// Words for a cost that grew or shrank: slower and faster for time, larger and smaller for bytes.
// The page's header and a diff's JSON have the words of their metric for the verdicts "slower" and
// "faster" (src/profile/cost_words.h); other verdicts are used as they are.

// For one: "slower", "larger", "more".
export const oneWord = (header, verdict) => header?.words?.[verdict]?.one ?? verdict;

// After a number: "2 slower", "2 with more".
export const manyWord = (header, verdict) => header?.words?.[verdict]?.many ?? verdict;

// The noun after "own": "own time", "own bytes", "own instructions".
export const noun = (header) => header?.noun ?? "time";

// The verdict for a changed cost.
export const verdictOn = (delta) => (delta > 0 ? "slower" : "faster");
