import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { defineCommand, type Call } from "../call/command.ts";

export default defineCommand({
  usage: "ui [checkpoint] [--no-open] [--at url]",
  about: [
    "Opens the page: what the agents did, with every way back. It starts the resident process if there is none.",
    "In an ssh session it prints the address and the line for a tunnel.",
  ].join("\n"),
  options: {
    "no-open": { type: "boolean", about: "only print the address; it works once, within a minute" },
    at: {
      type: "string",
      value: "url",
      about: "the address of a tunnel that leads to the page, such as http://localhost:9000",
    },
  },
  operands: { min: 0, max: 1 },
  examples: ["belay ui", "belay ui T3", "belay ui --no-open", "belay ui --at http://localhost:9000"],
  run: async (call) => {
    const { ResidentProcess } = await import("../resident/resident-process.ts");
    const { openPage } = await import("../command-parts/open-page.ts");
    const at = tunnel(call.options.at);
    const path = await viewOf(call);
    const facts = await new ResidentProcess(call.home).start(["--open", call.directory]);
    if (facts === undefined)
      throw new ContractError("RESIDENT_FAILED", "The resident process did not start, so there is no page.", {
        hint: `Its log is ${call.home}/run/resident.log.`,
      });
    await openPage(call, { url: facts.url, at, path, open: call.options["no-open"] !== true });
    return EXIT.done;
  },
});

function tunnel(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const url = URL.parse(given);
  if (url?.protocol === "http:" && url.pathname === "/") return url.origin;
  throw usageError(
    `--at needs an address such as http://localhost:9000, not "${given}".`,
    "It is where the tunnel ends.",
  );
}

/** The project of this directory, with the named row selected; outside of projects, the list of them. */
async function viewOf(call: Pick<Call, "directory" | "home" | "operands">): Promise<string> {
  const { findWorkspace } = await import("@belay/engine");
  const [ref] = call.operands;
  try {
    await using workspace = await findWorkspace(call.directory, { home: call.home });
    const select =
      ref === undefined ? "" : `?sel=${encodeURIComponent((await workspace.timeline.row(ref)).ref)}`;
    return `/w/${workspace.id}/${select}`;
  } catch (error) {
    if (ref === undefined && (error as { code?: string }).code === "WORKSPACE_NOT_FOUND") return "/";
    throw error;
  }
}
