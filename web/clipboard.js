// SPDX-License-Identifier: MIT
// Copies text to the clipboard, also in pages from disk, which may not have the clipboard API.

function copyBySelection(text) {
	const area = document.createElement("textarea");
	area.value = text;
	area.className = "unseen";
	document.body.append(area);
	area.select();
	const isCopied = document.execCommand("copy");
	area.remove();
	return isCopied;
}

// Returns whether it succeeded.
export async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return copyBySelection(text);
	}
}
