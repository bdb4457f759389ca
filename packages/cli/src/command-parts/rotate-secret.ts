/** `belay remote keys rotate`: a new secret for what comes and, with `--rewrite`, for what is there. */
import type { Workspace } from "@belay/engine";
import type { LineSize, RewrittenLine } from "@belay/remote";
import { EXIT } from "@belay/protocol/errors";
import { count, size } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import { confirm, declined } from "../call/confirmation.ts";
import { createRemoteHost } from "../wiring/remote-host.ts";
import { withBar } from "./sync-parts.ts";

type RotateCall = Pick<Call, "environment" | "home" | "json" | "output"> & {
  readonly options: { readonly remote?: string; readonly rewrite?: boolean; readonly yes?: boolean };
};

/** `belay remote keys rotate`: changes the secret of a space. */
export async function rotateSecret(call: RotateCall, workspace: Workspace): Promise<number> {
  const { openMembers, openRemote } = await import("@belay/remote");
  const host = await createRemoteHost(call);
  const members = openMembers(workspace, call.options.remote, host);
  if (call.options.rewrite !== true) {
    const generation = await members.rotate();
    if (call.json) call.output.json({ generation });
    else call.output.print(`${newKey(generation)} What is there stays as it is.`);
    return EXIT.done;
  }
  using remote = openRemote(workspace, call.options.remote, host);
  const before = await remote.rewritable();
  if (call.options.yes !== true && !(await confirm(call, questionFor(before)))) return declined(call);
  const generation = await members.rotate(true);
  const rewritten = await withBar(call, ["Encrypting again", "parcel"], (progress) =>
    remote.rewrite(progress),
  );
  if (call.json) call.output.json({ generation, rewritten, otherLines: before.others });
  else call.output.print(outcomeOf(generation, rewritten, before));
  return EXIT.done;
}

/** Dollars of a large provider: a thousand PUT and GET, and a GB out. */
const PRICE = { put: 0.005 / 1000, get: 0.0004 / 1000, gigabyteOut: 0.09 };
const GIGABYTE = 1e9;

function questionFor({ objects, bytes, others }: LineSize): string {
  const dollars = objects * (PRICE.put + PRICE.get * 2) + (bytes / GIGABYTE) * PRICE.gigabyteOut;
  const cost = dollars < 0.01 ? "less than $0.01" : `about $${dollars.toFixed(2)}`;
  return [
    `${size(bytes)} of this machine's line, in ${count(objects, "object")}, are read and written once: ${cost} at a large provider.`,
    ...(others === 0
      ? []
      : [`${count(others, "other line")} of the space: each machine does the same at its next push.`]),
    "Encrypt everything again?",
  ].join("\n");
}

function newKey(generation: number): string {
  return `What comes is encrypted with a new key (generation ${generation}).`;
}

function outcomeOf(generation: number, rewritten: RewrittenLine | null, { others }: LineSize): string {
  return [
    newKey(generation),
    rewritten === null
      ? "This machine's line was not encrypted again: it will be with a later push."
      : `This machine's line was encrypted again: ${size(rewritten.bytes)}.`,
    ...(others === 0 ? [] : [`The ${count(others, "other line")} will follow when their machines push.`]),
    OLD,
  ].join("\n");
}

const OLD =
  "What was there before is named by no line any more once all have followed. It lies on the server, encrypted with the old key, until it is deleted there; what a removed member kept stays readable to it.";
