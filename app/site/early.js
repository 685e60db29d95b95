// Starts Python's worker from the head of the page, before the page's own scripts have come; boot.js takes it over.

import {startEarly} from "./worker-link.js";

startEarly({config: JSON.parse(document.getElementById("site-config").textContent), base: document.baseURI});
