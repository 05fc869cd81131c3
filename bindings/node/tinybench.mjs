// SPDX-License-Identifier: MIT
// tinybench suites for `fizeau bench`:
//
//   import { Bench } from "tinybench";
//   import { withFizeau } from "fizeau-bench/tinybench";
//   const suite = withFizeau(new Bench());
//   suite.add("parse", () => parse(text));
//   await suite.run();
//
// Elsewhere the suite is tinybench's own.

import { bench, enabled } from "./fizeau_bench.mjs";

/** Make fizeau measure a suite's tasks. Returns the suite. */
export function withFizeau(suite) {
  if (!enabled) return suite;
  const bodies = new Map();
  const { add, remove } = suite;
  const whole = suite.opts ?? suite; // where the suite's own hooks are, by version

  suite.add = (name, body, options = {}) => {
    bodies.set(name, { body, options });
    return add.call(suite, name, body, options);
  };
  suite.remove = (name) => {
    bodies.delete(name);
    return remove.call(suite, name);
  };
  suite.run = async () => {
    for (const [name, { body, options }] of bodies) {
      const task = suite.getTask(name);
      const hook = (f) => f && (() => f.call(task, "run"));
      const around = { before: hook(options.beforeEach), after: hook(options.afterEach) };
      await whole.setup?.(task, "run");
      await options.beforeAll?.call(task, "run");
      await bench(suite.name ? `${suite.name} ${name}` : name, () => body.call(task), around);
      await options.afterAll?.call(task, "run");
      await whole.teardown?.(task, "run");
    }
    return suite.tasks;
  };
  suite.runSync = () => {
    throw new Error("fizeau: a suite is measured by run(), not by runSync()");
  };
  return suite;
}
