/** The first rows of a history, asked for before anything is drawn: what shows them takes the answer that is on its way. */
import type { CallOutput } from "@belay/protocol";
import type { BrowserClient } from "./client.ts";

type Answer = CallOutput<"GET /api/history">;

/** Which rows are wanted. */
export interface HistoryFilter {
  readonly q?: string;
  readonly thread?: string;
  readonly agent?: string;
  readonly all?: boolean;
  /** One row a checkpoint. */
  readonly flat?: boolean;
}

/** How many rows are asked for at first. */
export const FIRST_PAGE = 100;

/** The query for rows of the timeline under a filter. */
export function historyQuery(
  workspace: string,
  { all, flat, ...filter }: HistoryFilter,
  options: {
    readonly before?: number;
    readonly skip?: number;
    readonly around?: string;
    readonly limit: number;
  },
) {
  const how = { ...(all && { all: "1" as const }), ...(flat && { flat: "1" as const }) };
  return { workspace, ...filter, ...how, ...options };
}

/** One page shows one history at first. */
let onItsWay: { readonly name: string; readonly answer: Promise<Answer> } | undefined;

/** Asks for the first rows of a workspace; call it before the first drawing. */
export function askFirstRows(client: BrowserClient, workspace: string, filter: HistoryFilter): void {
  const query = historyQuery(workspace, filter, { limit: FIRST_PAGE });
  const answer = client.call("GET /api/history", { query });
  // the one that takes it hears of a failure
  answer.catch(() => undefined);
  onItsWay = { name: JSON.stringify(query), answer };
}

/** The answer to this question, if it was asked before; once. */
export function takeFirstRows(query: object): Promise<Answer> | undefined {
  const asked = onItsWay;
  onItsWay = undefined;
  return asked?.name === JSON.stringify(query) ? asked.answer : undefined;
}
