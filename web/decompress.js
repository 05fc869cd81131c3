// SPDX-License-Identifier: MIT
// Decompression of the page's packed data and of the viewer itself.

export function fromBase64(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
	return bytes;
}

export async function inflate(bytes) {
	const stream = new DecompressionStream("deflate-raw");
	const writer = stream.writable.getWriter();
	// The readable end reports errors in the data.
	writer.write(bytes).catch(() => {});
	writer.close().catch(() => {});
	return new Uint8Array(await new Response(stream.readable).arrayBuffer());
}
