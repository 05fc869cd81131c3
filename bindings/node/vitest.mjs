// SPDX-License-Identifier: MIT
// vitest's benchmarks for `fizeau bench -- npx vitest bench --run`; in vitest.config.js:
//
//   import fizeau from "fizeau-bench/vitest";
//   export default { plugins: [fizeau()] };
//
// Elsewhere `vitest bench` is vitest's own.

import { fileURLToPath } from "node:url";
import { enabled } from "./fizeau_bench.mjs";

export default function fizeau() {
  return {
    name: "fizeau",
    enforce: "post",
    apply: (_, { mode }) => enabled && mode === "benchmark",
    config: () => ({
      test: {
        // One process at a time, with the options of this one, which fizeau chose.
        pool: "forks",
        fileParallelism: false,
        execArgv: process.execArgv,
        poolOptions: { forks: { execArgv: process.execArgv, singleFork: true } },
        runner: fileURLToPath(new URL("./vitest_runner.mjs", import.meta.url)),
      },
    }),
  };
}
