// SPDX-License-Identifier: MIT
// Text on the clipboard, also where a page from disk has no such interface.

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

// Whether it is there now.
export async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return copyBySelection(text);
	}
}
