// SPDX-License-Identifier: MIT
// What people call a cost that grew or shrank: of time slower and faster, of bytes larger, smaller.
// A page's header, and a diff as JSON, have the words of their metric for the verdicts "slower" and
// "faster", which mean that it costs more or less (src/profile/cost_words.h). Other verdicts are
// words themselves.

// Of one: "slower", "larger", "more".
export const oneWord = (header, verdict) => header?.words?.[verdict]?.one ?? verdict;

// After how many: "2 slower", "2 with more".
export const manyWord = (header, verdict) => header?.words?.[verdict]?.many ?? verdict;

// What it is that a function has of its own: "own time", "own bytes", "own instructions".
export const noun = (header) => header?.noun ?? "time";

// The verdict on a cost that changed.
export const verdictOn = (delta) => (delta > 0 ? "slower" : "faster");
