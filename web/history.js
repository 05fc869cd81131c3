// SPDX-License-Identifier: MIT
// The page of a history, and the first page of a server: script only searches.
import { searchCards } from "./cards.js";

searchCards();
