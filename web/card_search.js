// SPDX-License-Identifier: MIT
// The search field of a page of cards or rows: shows those whose name, commits or places contain
// all words.
export function searchCards(selector = "main section") {
	const field = document.getElementById("query");
	const cards = [...document.querySelectorAll(selector)];
	const texts = cards.map((card) => card.textContent.toLowerCase());

	function search() {
		const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
		cards.forEach((card, i) => (card.hidden = !words.every((word) => texts[i].includes(word))));
		const n = cards.filter((card) => !card.hidden).length;
		document.getElementById("found").textContent =
			words.length ? `${n} of ${cards.length}` : "";
	}

	field.addEventListener("input", search);
	field.parentElement.hidden = cards.length < 2;
}
