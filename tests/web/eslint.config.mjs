// SPDX-License-Identifier: MIT
// Rules of tools/check-scripts for every script: those that find defects, and lines of 100 columns
// in web/. Globals are named one by one, so that a forgotten `const name` is none of a browser's.
import js from "@eslint/js";

const known = (names) => Object.fromEntries(names.split(" ").map((name) => [name, "readonly"]));

const both = "AbortController TextDecoder URL URLSearchParams clearTimeout console performance setTimeout";
const browser = known(`${both} Blob DOMParser DecompressionStream Event HTMLInputElement Image
	HTMLSelectElement MutationObserver PointerEvent ResizeObserver Response addEventListener atob btoa
	cancelAnimationFrame devicePixelRatio dispatchEvent document getComputedStyle history innerHeight
	innerWidth localStorage location matchMedia navigator requestAnimationFrame scrollTo scrollX
	scrollY visualViewport window`.replace(/\s+/g, " "));
const node = known(`${both} Buffer process`);
const commonjs = known("__dirname __filename");
// What a page gives to a script that drives it: the page itself, and modules as tools/embed names them.
const driven = known("copied fizeau $$colors $$folds $$frame_facts $$function_lines $$heat_code $$frame_colour $$opcodes $$save $$source_files $$tree");

const rules = {
	...js.configs.recommended.rules,
	"array-callback-return": "error",
	"consistent-return": "error",
	"default-case-last": "error",
	eqeqeq: "error",
	"no-constructor-return": "error",
	"no-eval": "error",
	"no-implicit-globals": "error",
	"no-implied-eval": "error",
	"no-lone-blocks": "error",
	"no-new-func": "error",
	"no-new-wrappers": "error",
	"no-self-compare": "error",
	"no-sequences": "error",
	"no-shadow": ["error", { builtinGlobals: true }],
	"no-throw-literal": "error",
	"no-unmodified-loop-condition": "error",
	"no-unreachable-loop": "error",
	"no-unused-expressions": "error",
	"no-unused-vars": "error",
	"no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
	"no-useless-concat": "error",
	"no-useless-rename": "error",
	"no-useless-return": "error",
	"no-var": "error",
	"object-shorthand": "error",
	"prefer-const": "error",
};

export default [
	{ linterOptions: { reportUnusedDisableDirectives: "error" }, rules },
	{
		files: ["web/*.js"],
		languageOptions: { globals: browser },
		rules: { "max-len": ["error", { code: 100, tabWidth: 4 }] },
	},
	// All other pages make no requests.
	{ files: ["web/service.js", "web/gate.js", "tests/web/test_server.js", "tests/web/test_gate.js"], languageOptions: { globals: known("fetch") } },
	{ files: ["**/*.mjs"], languageOptions: { globals: node } },
	{
		files: ["bindings/vscode/**/*.js"],
		ignores: ["**/in_page.js"],
		languageOptions: { sourceType: "commonjs", globals: { ...node, ...commonjs } },
	},
	{
		files: ["**/in_page.js"],
		languageOptions: { sourceType: "script", globals: { ...browser, ...known("HTMLAnchorElement acquireVsCodeApi") } },
	},
	{
		files: ["tests/web/*.js", "tests/vscode/*.js", "bench/**/*.js"],
		languageOptions: { sourceType: "commonjs", globals: { ...browser, ...node, ...commonjs, ...driven } },
	},
	{
		files: ["bench/browser/*.js"],
		languageOptions: { globals: known("chart d3 data drawn hovered readyAt readyTime timed") },
	},
];
