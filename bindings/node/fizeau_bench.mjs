// SPDX-License-Identifier: MIT
// Benchmarks in Node, for `fizeau bench -- node FILE`.
//
//   import { bench } from "fizeau-bench";
//   await bench("parse", () => parse(text));
//
// Elsewhere a body runs once. For counts fizeau starts Node without its optimising compilers, so
// that they are the same in every run; times are those of an unmodified Node. Details are in
// docs/benchmarks.md.

import { appendFileSync, existsSync } from "node:fs";

const MODE = process.env.FIZEAU_BENCH;
const LOG = process.env.FIZEAU_BENCH_LOG;
const FILTER = process.env.FIZEAU_BENCH_FILTER ?? "";

const ROUND_NS = 1e6; // minimum length of a round
const TOTAL_NS = 5e8; // more rounds until this much time has passed,
const ROUNDS_MIN = 5; // within these limits
const ROUNDS_MAX = 200;
const WARM_UP = 5; // calls before the counted one

/** Does fizeau run us? */
export const enabled = MODE === "count" || MODE === "wall";

const log = (record) => LOG && appendFileSync(LOG, JSON.stringify(record) + "\n");
const now = () => Number(process.hrtime.bigint());
const isPromise = (value) => typeof value?.then === "function";

// fizeau shows only what is below this frame.
function __bench_root_frame__(body) {
  return body();
}

// A collection starts a task on a helper thread of V8. Wait until it has run, so that it is not
// counted.
const SETTLE_MS = 50;
const neverNotified = new Int32Array(new SharedArrayBuffer(4));

function collectGarbage() {
  globalThis.gc?.();
  Atomics.wait(neverNotified, 0, 0, SETTLE_MS);
}

async function count(name, body, around) {
  const [start, stop, drop] = ["start", "stop", "drop"].map((word) => `/.fizeau/${word}/${name}`);
  for (let i = 0; i < WARM_UP; i++) {
    await around.before?.();
    await __bench_root_frame__(body);
    await around.after?.();
  }
  existsSync(start); // warm up the marks, too
  existsSync(drop);
  await around.before?.();
  collectGarbage();
  try {
    existsSync(start);
    const result = __bench_root_frame__(body);
    if (isPromise(result)) await result;
    existsSync(stop);
  } catch (error) {
    existsSync(drop);
    throw error;
  }
  await around.after?.();
}

async function timeRound(body, iterations, around) {
  let spent = 0;
  await around.before?.();
  const begin = now();
  for (let i = 0; i < iterations; i++) {
    const result = __bench_root_frame__(body);
    if (isPromise(result)) await result;
  }
  spent = now() - begin;
  await around.after?.();
  return spent / iterations;
}

async function wall(name, body, around) {
  log({ name });
  // Give the optimising compilers time to finish.
  const warm = now() + TOTAL_NS / 5;
  let one = await timeRound(body, 1, around);
  while (now() < warm) one = await timeRound(body, 1, around);
  const prepared = around.before || around.after;
  const iterations = prepared ? 1 : Math.max(1, Math.floor(ROUND_NS / Math.max(one, 1)));
  const rounds = [];
  const end = now() + TOTAL_NS;
  while (rounds.length < ROUNDS_MAX && (rounds.length < ROUNDS_MIN || now() < end))
    rounds.push(await timeRound(body, iterations, around));
  log({ name, rounds });
}

/**
 * Run a benchmark; the promise is fulfilled when it is done. `around.before` and `around.after` run
 * around each round and are not measured.
 */
export async function bench(name, body, around = {}) {
  if (!enabled || !name.includes(FILTER)) {
    if (enabled) return;
    await around.before?.();
    await body();
    await around.after?.();
    return;
  }
  try {
    await (MODE === "count" ? count : wall)(name, body, around);
  } catch (error) {
    log({ name, failed: String(error) });
    throw error;
  }
}
