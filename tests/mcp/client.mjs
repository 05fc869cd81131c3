// SPDX-License-Identifier: MIT
// Drives `fizeau mcp` with an official client and prints what it saw as JSON:
//
//   client.mjs sdk    FIZEAU FOLDER     the client of @modelcontextprotocol/sdk, which says initialize
//   client.mjs client FIZEAU FOLDER     that of @modelcontextprotocol/client, which asks server/discover
//
// The clients check every message against the schemas of the protocol, and throw when one does not fit.

const [kind, fizeau, folder] = process.argv.slice(2);
const start = {
  command: fizeau,
  args: ["mcp", "--root", folder, "--allow", "python3 *"],
  stderr: "inherit",
  env: process.env,
};

async function connect() {
  const info = { name: "fizeau-tests", version: "1" };
  if (kind === "sdk") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const client = new Client(info);
    await client.connect(new StdioClientTransport(start));
    return client;
  }
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new StdioClientTransport(start));
  return client;
}

const client = await connect();
const errors = [];
client.onerror = (error) => errors.push(String(error));

// The same with both generations of the library, whose calls have other places for a schema.
function call(name, args, options) {
  const request = { name, arguments: args };
  return kind === "sdk" ? client.callTool(request, undefined, options) : client.callTool(request, options);
}

async function refused(promise) {
  try {
    await promise;
    return null;
  } catch (error) {
    return { code: error.code, message: String(error.message) };
  }
}

const seen = {
  server: client.getServerVersion(),
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools,
  changes: await call("changes", { base: "base.folded", head: "head.folded" }),
  structured: await call("changes", { base: "base.folded", head: "head.folded", structured: true }),
  unknown: await refused(call("nothing", {})),
  wrong: await call("changes", { base: 7 }),
};
if (kind === "sdk") seen.ping = await client.ping();

// A long call: progress is told, and cancelling it ends it.
const steps = [];
const abort = new AbortController();
seen.cancelled = await refused(call("compare", { command: ["python3", "sleep.py"], revision: "HEAD" }, {
  signal: abort.signal,
  onprogress: (progress) => {
    steps.push(progress);
    abort.abort("enough");
  },
}));
seen.steps = steps;
seen.after = await call("verify", { of: "d1" });
seen.errors = errors;
await client.close();
console.log(JSON.stringify(seen));
