// SPDX-License-Identifier: MIT
// The first script of a packed page: it unpacks the viewer and starts it. The page's policy names
// the hashes of both, so that nothing else starts.
import { sayFailure, sayNotOpened } from "./failure.js";
import { fromBase64, inflate } from "./decompress.js";

async function start() {
	const packed = fromBase64(document.getElementById("fz-viewer").textContent);
	const script = document.createElement("script");
	script.textContent = new TextDecoder().decode(await inflate(packed));
	document.body.append(script);
	// The viewer has run by now, unless the policy blocked it.
	if (!document.documentElement.dataset.begun) throw new Error("its viewer is damaged");
}

if (typeof DecompressionStream === "undefined")
	sayFailure("This browser is too old to open the page: it has no DecompressionStream " +
		"(Chrome 103, Firefox 113, Safari 16.4 have).");
else
	start().catch(sayNotOpened);
