/** Routes by which pages in browsers get and lose their keys. */
import { z } from "zod";
import * as shapes from "../shapes.ts";
import { text, type Route } from "./route-parts.ts";

/** Pages that are open in browsers. */
export const PAGES = {
  "POST /api/pages/codes": {
    summary: "A code that opens one page in a browser within a minute; `at`: the address of a tunnel.",
    body: z.object({
      at: z
        .url({ protocol: /^http$/, hostname: /^[\w.-]+$/ })
        .max(200)
        .optional(),
    }),
    response: z.looseObject({ code: z.string() }),
    ownProgramsOnly: true,
  },
  "POST /api/pages": {
    summary: "Opens a page: gives its key for a code. The only route that needs no key.",
    body: z.object({ code: text(100) }),
    response: z.looseObject({ key: z.string() }),
  },
  "GET /api/pages": {
    summary: "The open pages, newest first.",
    response: z.looseObject({ pages: z.array(shapes.page) }),
  },
  "DELETE /api/pages/:id": {
    summary: "Ends the key of a page.",
    response: z.looseObject({ ended: z.string() }),
  },
} as const satisfies Record<string, Route>;
