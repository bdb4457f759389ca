/** The commands of Moldable's shell; the program that starts the server has them. */
import { ContractError } from "@belay/protocol/errors";
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import type { Served } from "./served.ts";

/** Serves Moldable's front. */
export function serveMoldable(app: Hono, { moldable }: Served): void {
  serveRoute(app, "POST /api/moldable/:command", async ({ params, body }) => {
    if (moldable === undefined)
      throw new ContractError("ROUTE_NOT_FOUND", "This program has no commands of Moldable.");
    try {
      return { result: (await moldable(params.command, body)) ?? null };
    } catch (error) {
      // the front's own errors are sentences for the person, without a code
      if (typeof (error as { code?: unknown }).code === "string") throw error;
      throw new ContractError("BAD_REQUEST", (error as Error).message);
    }
  });
}
