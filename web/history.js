// SPDX-License-Identifier: MIT
// The history page and the server's start page: their script only searches.
import { searchCards } from "./card_search.js";

searchCards();
