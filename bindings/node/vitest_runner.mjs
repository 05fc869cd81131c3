// SPDX-License-Identifier: MIT
// Runs a file's benchmarks in place of vitest's own runner; see vitest.mjs.

import { relative } from "node:path";
import { NodeBenchmarkRunner } from "vitest/runners";
import { getBenchFn, getBenchOptions, getHooks } from "vitest/suite";
import { bench } from "./fizeau_bench.mjs";

const isBenchmark = (task) => task.meta?.benchmark === true;
const isWanted = (task) => task.mode === "run" || task.mode === "queued";

async function callHooks(suite, name) {
  for (const hook of getHooks(suite)?.[name] ?? []) await hook(suite);
}

/** The suite around a suite, or its file; undefined for a file. */
const outer = (suite) => suite.suite ?? (suite.file === suite ? undefined : suite.file);

/** Outer suites' hooks run first before a benchmark, and last after it. */
async function callEach(suite, name) {
  if (!suite) return;
  if (name === "beforeEach") await callEach(outer(suite), name);
  await callHooks(suite, name);
  if (name === "afterEach") await callEach(outer(suite), name);
}

export default class FizeauRunner extends NodeBenchmarkRunner {
  async runBenchmark(task, suite, prefix) {
    const options = getBenchOptions(task) ?? {};
    const around = {
      before: () => callEach(suite, "beforeEach"),
      after: () => callEach(suite, "afterEach"),
    };
    await options.setup?.(task, "run");
    await bench(`${prefix}::${task.name}`, getBenchFn(task), around);
    await options.teardown?.(task, "run");
  }

  async runTasks(suite, prefix) {
    const failures = [];
    await callHooks(suite, "beforeAll");
    for (const task of suite.tasks.filter(isWanted)) {
      try {
        if (isBenchmark(task)) await this.runBenchmark(task, suite, prefix);
        else if (task.type === "suite") await this.runTasks(task, `${prefix}::${task.name}`);
      } catch (error) {
        failures.push(error);
      }
    }
    await callHooks(suite, "afterAll");
    if (failures.length) throw failures[0];
  }

  /** Called with each file. */
  async runSuite(file) {
    await this.runTasks(file, relative(this.config.root, file.filepath));
  }
}
