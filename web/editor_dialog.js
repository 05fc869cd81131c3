// SPDX-License-Identifier: MIT
// The dialog that chooses an editor once, stores the answer, and opens the place.
import { el } from "./dom.js";
import { chooseEditor, chosenEditor, editors, faultOf, placeIn, uriOf } from "./editor.js";

// Follow a link without leaving the page; the system asks whether the editor may open.
function follow(uri) {
	const link = el("a", { href: uri, hidden: true });
	document.body.append(link);
	link.click();
	link.remove();
}

export class EditorDialog {
	constructor(dialog) {
		this.dialog = dialog;
		this.error = el("p", { class: "error", role: "alert" });
		this.own = el("input", {
			type: "text", id: "editor-own", class: "find",
			placeholder: "editor://open?file={path}&line={line}",
			"aria-label": "Link of another editor", spellcheck: "false", autocomplete: "off",
		});
		this.folder = el("input", {
			type: "text", id: "editor-folder", class: "find", placeholder: "/home/me/program",
			spellcheck: "false", autocomplete: "off",
		});
		const choose = (template) => {
			const folder = this.folder.value.trim();
			this.error.textContent = faultOf(template) ||
				(placeIn(folder, this.place.path) === null ?
					"Enter the folder of the program's files on this machine." : "");
			if (this.error.textContent) return;
			chooseEditor(template, folder);
			dialog.close();
			this.go();
		};
		dialog.append(
			el("form", { method: "dialog" },
				el("h2", { id: "editor-title" }, "Choose an editor"),
				el("button", { class: "icon", "aria-label": "Close" }, "×")),
			el("form", { class: "choices", onsubmit: (event) => {
				event.preventDefault();
				choose(this.own.value.trim());
			} },
			el("label", {}, "Folder of relative paths", this.folder),
			...editors.map(([id, name, template]) =>
				el("button",
					{
						type: "button", class: "choice-row", "data-editor": id,
						onclick: () => choose(template),
					}, el("span", {}, name),
					el("span", { class: "quiet" }, template.replace(/[/?].*/, "")))),
			this.own, this.error, el("button", { class: "plain" }, "Use this link")));
	}

	// Open a place in the chosen editor; asks for one if none was chosen or `anew` is set.
	open(path, line, anew = false) {
		this.place = { path, line };
		const { template, folder } = chosenEditor();
		if (template && placeIn(folder, path) !== null && !anew) {
			this.go();
			return;
		}
		this.own.value = editors.some(([, , known]) => known === template) ? "" : template;
		this.folder.value = folder;
		this.error.textContent = "";
		this.dialog.showModal();
	}

	go() {
		const { template, folder } = chosenEditor();
		follow(uriOf(template, placeIn(folder, this.place.path), this.place.line));
	}
}
