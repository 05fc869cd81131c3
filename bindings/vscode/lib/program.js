// SPDX-License-Identifier: MIT
// Calls the program fizeau, never through a shell. An error becomes one sentence with a remedy.
"use strict";
const { execFile } = require("node:child_process");
const fs = require("node:fs");

const OUTPUT_MAX = 1 << 30;
const COLUMNS = "10000"; // paths are shortened to the width of a terminal

class ProgramError extends Error {
	// notFound: the setting with the program's path is wrong
	constructor(message, notFound = false) {
		super(message);
		this.notFound = notFound;
	}
}

// The last line of output: the reason for the failure.
function lastWords(stderr) {
	const said = stderr.split("\n").map((line) => line.trim()).filter(Boolean);
	return (said.at(-1) ?? "").replace(/^fizeau: /, "");
}

function explain(program, error, stderr, cwd) {
	if (error.code === "ENOENT" && cwd && !fs.existsSync(cwd))
		return new ProgramError(`The folder '${cwd}' no longer exists.`);
	if (error.code === "ENOENT" || error.code === "EACCES" || error.code === "ENOTDIR")
		return new ProgramError(`'${program}' cannot be run. Install fizeau, or set its path in ` +
			"'fizeau.program'.", true);
	if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER")
		return new ProgramError("The recording is too large to show here; open it with 'fizeau replay --browser'.");
	if (/'lines' is not one of/.test(stderr))
		return new ProgramError(`'${program}' is older than this extension. Update it.`, true);
	return new ProgramError(lastWords(stderr) ||
		(error.signal ? `fizeau was killed by ${error.signal}.` : `fizeau exited with status ${error.code}.`));
}

// Returns {status, stdout}. Rejects if the status is not in `fine`, or the program could not run.
function run(program, args, cwd, fine = [0]) {
	return new Promise((resolve, reject) => {
		const options = { cwd, env: { ...process.env, COLUMNS }, maxBuffer: OUTPUT_MAX, encoding: /** @type {const} */ ("utf8") };
		execFile(program, args, options, (error, stdout, stderr) => {
			const status = Number(error?.code ?? (error ? NaN : 0));
			if (fine.includes(status)) resolve({ status, stdout });
			else reject(explain(program, error, stderr, cwd));
		});
	});
}

function parse(program, stdout) {
	try {
		return JSON.parse(stdout);
	} catch {
		throw new ProgramError(`'${program}' is not fizeau, or does not match this extension: update it.`, true);
	}
}

// The cost of each line of a recording: docs/diff-json.md, "Lines". Recordings are absolute paths.
async function lines(program, recording) {
	const { stdout } = await run(program, ["replay", "--format", "lines", "-o", "-", "--", recording]);
	return parse(program, stdout);
}

// {report, regressed}: the changes, and whether --fail-on regression would fail.
async function diffLines(program, base, head) {
	const args = ["diff", "--fail-on", "regression", "--format", "lines", "-o", "-", "--", base, head];
	const { status, stdout } = await run(program, args, undefined, [0, 1]);
	return { report: parse(program, stdout), regressed: status === 1 };
}

async function page(program, recording) {
	return (await run(program, ["replay", "--format", "html", "-o", "-", "--", recording])).stdout;
}

// Recordings of the local store, newest first: {name: "@1", about}.
async function list(program, cwd) {
	const { stdout } = await run(program, ["list"], cwd);
	return stdout.split("\n").map((line) => /^(@\d+)\s+(.*\S)/.exec(line)).filter(Boolean)
		.map(([, name, about]) => ({ name, about: about.replace(/\s{2,}/g, "  ") }));
}

// The file of a recording of the store.
async function fileOf(program, name, cwd) {
	const { stdout } = await run(program, ["show", name], cwd);
	const found = /^file +(.*)$/m.exec(stdout);
	if (!found) throw new ProgramError(`fizeau did not print the path of ${name}; open its file instead.`);
	return found[1];
}

module.exports = { ProgramError, diffLines, fileOf, lines, list, page, run };
