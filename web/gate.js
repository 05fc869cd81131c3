// SPDX-License-Identifier: MIT
// Benchmark pages of the server: search, and forms that accept an intended change. Where the
// server requires a token, the form sends one with write permission; it is not stored.
import { searchCards } from "./card_search.js";
import { el } from "./dom.js";

const REASON_MAX = 500; // characters
const asksToken = document.documentElement.dataset.asks === "token";

async function send(form, wish) {
	const headers = { "Content-Type": "application/json" };
	const token = form.elements.token?.value;
	if (token) headers.Authorization = `Bearer ${token}`;
	const answer = await fetch("/api/accept", {
		method: "POST", headers, body: JSON.stringify(wish),
	});
	if (!answer.ok) throw new Error((await answer.text()).trim());
}

async function submit(event, { run, act, benchmark, metric }) {
	const form = event.target, said = form.querySelector("[role=alert]");
	const how = act === "withdraw" ? { withdraw: true } : { reason: form.elements.reason.value };
	event.preventDefault();
	said.textContent = "";
	try {
		await send(form, { run: Number(run), benchmark, metric, ...how });
		location.reload();
	} catch (error) {
		said.textContent = error.message;
	}
}

function field(label, attributes) {
	return el("label", {}, label, el("input", { required: "", ...attributes }));
}

function makeForm(box) {
	const isNew = box.dataset.act === "accept";
	const words = isNew ? "Accept this change" : "Withdraw the acceptance";
	const form = el("form", {},
		...(isNew ? [field("Reason", { name: "reason", maxlength: REASON_MAX })] : []),
		...(asksToken ? [field("Token with write permission",
			{ name: "token", type: "password", autocomplete: "off" })] : []),
		el("button", {}, words), el("p", { role: "alert" }));
	form.addEventListener("submit", (event) => submit(event, box.dataset));
	return el("details", {}, el("summary", {}, `${words} …`), form);
}

for (const box of document.querySelectorAll(".acts")) box.append(makeForm(box));
searchCards("main > section:not(.full), .rows tbody tr");
document.documentElement.dataset.ready = "";
