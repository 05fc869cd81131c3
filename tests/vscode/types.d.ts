// SPDX-License-Identifier: MIT
// What an editor gives to a page in it.
declare function acquireVsCodeApi(): { postMessage(message: unknown): void };
