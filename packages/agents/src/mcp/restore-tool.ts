/**
 * Restoring through MCP: nothing changes before the user has agreed. A client that can ask the user must ask; with any
 * other client the first call only returns a preview and a code for the second call.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  type ClientCapabilities,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { shorten } from "../events/describe.ts";
import type { McpHost, RestorePreview } from "./mcp-host.ts";
import { result, type ToolResult } from "./tool-result.ts";

/** What a call of the tool asks for. */
export interface RestoreRequest {
  readonly checkpoint: string;
  readonly paths?: readonly string[] | undefined;
  readonly confirm?: string | undefined;
}

interface Restoring {
  readonly host: McpHost;
  readonly server: McpServer;
  readonly context: ServerContext;
}

const SHOWN = 200;
const ASKED_PATHS = 10;

/** Carries out a call of `checkpoint_restore`. */
export async function restoreTool(
  request: RestoreRequest,
  restoring: Restoring,
): Promise<ToolResult | InputRequiredResult> {
  return canAsk(restoring) ? askAndRestore(request, restoring) : restoreWithCode(request, restoring);
}

/** The preview of a restore as MCP clients see it. */
export function previewFacts(preview: RestorePreview): Record<string, unknown> {
  const { description, operations, kept, conflicts, waysOut, warnings } = preview;
  const lists = {
    kept: kept.slice(0, SHOWN),
    conflicts: conflicts.slice(0, SHOWN),
    waysOut,
    warnings: warnings.slice(0, SHOWN),
  };
  return {
    description,
    operations: operations.slice(0, SHOWN),
    operationsTotal: operations.length,
    ...lists,
  };
}

async function restoreWithCode(
  { checkpoint, paths, confirm }: RestoreRequest,
  { host }: Restoring,
): Promise<ToolResult> {
  if (confirm !== undefined) return carryOut(host, confirm);
  const preview = await host.preview(checkpoint, paths);
  return result({
    outcome: "needs-confirmation",
    preview: previewFacts(preview),
    confirm: preview.planId,
  });
}

/** The id of the plan travels through the client and back: no other way leads to the plan. */
async function askAndRestore(
  { checkpoint, paths }: RestoreRequest,
  { host, context }: Restoring,
): Promise<ToolResult | InputRequiredResult> {
  const answer = inputResponse(context.mcpReq.inputResponses, "restore");
  const code = context.mcpReq.requestState<string>();
  if (answer.kind === "elicit" && typeof code === "string") {
    const agreed = answer.action === "accept" && answer.content?.["restore"] === true;
    if (agreed) return carryOut(host, code);
    host.decline(code);
    return result({ outcome: "declined" });
  }
  const preview = await host.preview(checkpoint, paths);
  return inputRequired({
    inputRequests: {
      restore: inputRequired.elicit({
        message: question(preview),
        requestedSchema: {
          type: "object",
          properties: { restore: { type: "boolean", title: "Restore these files", default: false } },
          required: ["restore"],
        },
      }),
    },
    requestState: preview.planId,
  });
}

async function carryOut(host: McpHost, planId: string): Promise<ToolResult> {
  const { conflicts, displaced, warnings, ...facts } = await host.restore(planId);
  return result({
    ...facts,
    conflicts: conflicts.slice(0, SHOWN),
    displaced: displaced.slice(0, SHOWN),
    warnings: warnings.slice(0, SHOWN),
  });
}

function question({ description, operations, conflicts, warnings }: RestorePreview): string {
  const paths = operations.slice(0, ASKED_PATHS).map(({ type, path }) => `${type} ${shorten(path, 200)}`);
  const more = operations.length > ASKED_PATHS ? [`… and ${operations.length - ASKED_PATHS} more`] : [];
  const trouble = [
    ...conflicts.map(({ path, reason }) => `conflict: ${shorten(path, 200)} (${reason})`),
    ...warnings,
  ].slice(0, ASKED_PATHS);
  return [`${shorten(description, 200)}? This can be undone.`, ...paths, ...more, ...trouble].join("\n");
}

/** In the newer protocol every request names the client's capabilities, in the older one only the first. */
function canAsk({ context, server }: Restoring): boolean {
  const envelope = context.mcpReq.envelope as Record<string, ClientCapabilities> | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY];
  // oxlint-disable-next-line typescript/no-deprecated -- the only way to know for clients of the older protocol
  const { elicitation } = declared ?? server.server.getClientCapabilities() ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
