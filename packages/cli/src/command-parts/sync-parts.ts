/** What `push`, `pull` and `sync` share: one remote, a bar, and what is said about the outcome. */
import type { Selection, Workspace } from "@belay/engine";
import type {
  LineCheckpoint,
  OpenedRemote,
  OtherLine,
  PulledLines,
  PushedLine,
  PushReport,
} from "@belay/remote";
import { usageError } from "@belay/protocol/errors";
import { count, relativeTime, size } from "@belay/tui/text";
import { THREAD, YES, type Call } from "../call/command.ts";
import { parseDuration } from "../call/duration.ts";
import { threadId } from "../call/thread-option.ts";
import { createProgressBar } from "../output/progress-bar.ts";
import { visible } from "../output/visible.ts";
import { tellParentProcess } from "../resident/command-process.ts";
import { reviewsJson, reviewsText, type FollowedReview } from "./team-reviews.ts";
import type { CommandHost } from "../wiring/remote-host.ts";

/** The options of commands that exchange something with a remote. */
export const SYNC_OPTIONS = {
  remote: { type: "string", value: "name", about: "which remote, where there are several" },
  wait: {
    type: "string",
    value: "time",
    otherwise: "10m",
    about: "go on trying for so long, for example 90 or 2m; 10m without a time, 30s without --wait",
  },
  limit: { type: "string", value: "rate", about: "bytes per second at most, for example 500k or 2M" },
} as const;

/** What commands that send take besides: one thread or one checkpoint, and whether secrets may go. */
export const SEND_OPTIONS = {
  ...SYNC_OPTIONS,
  thread: { ...THREAD, about: "send only this thread, with its checkpoints" },
  yes: { ...YES, about: "push even if the first push would send what looks like secrets" },
} as const;

/** What a command line chooses to send; undefined when it is everything. */
export async function selectionOf(
  {
    options,
    operands,
  }: { readonly options: { readonly thread?: string }; readonly operands: readonly string[] },
  workspace: Workspace,
): Promise<Selection | undefined> {
  const [ref] = operands;
  if (ref !== undefined && options.thread !== undefined)
    throw usageError(
      "Choose a thread or a checkpoint, not both. Nothing was sent.",
      "For example: belay push @",
    );
  const thread = (await threadId(workspace, options.thread)) ?? null;
  if (ref === undefined) return thread === null ? undefined : { thread, checkpoint: null };
  const { id, fetchedFrom } = await workspace.resolve(ref);
  if (fetchedFrom !== null)
    throw usageError(
      "That checkpoint came from another machine, whose line has it. Nothing was sent.",
      "`belay list` shows what was made here.",
    );
  return { thread: null, checkpoint: id };
}

/** The call of such a command. */
export type SyncCall = Pick<Call, "environment" | "home" | "json" | "output"> & {
  readonly options: {
    readonly remote?: string | undefined;
    readonly wait?: string | undefined;
    readonly limit?: string | undefined;
  };
};

/** A remote that is open for a command. */
export interface HeldRemote extends Disposable {
  readonly remote: OpenedRemote;
  readonly host: CommandHost;
}

/** Opens the remote that a command is about, with its patience and its rate. */
export async function openForSync(call: SyncCall, workspace: Workspace): Promise<HeldRemote> {
  const { openRemote } = await import("@belay/remote");
  const { createRemoteHost } = await import("../wiring/remote-host.ts");
  const { wait, limit, remote: name } = call.options;
  const host = await createRemoteHost(call, {
    ...(wait !== undefined && { patienceMs: parseDuration(/^\d+$/.test(wait) ? `${wait}s` : wait) }),
    ...(limit !== undefined && { bytesPerSecond: rateOf(limit) }),
  });
  const remote = openRemote(workspace, name, host);
  return { remote, host, [Symbol.dispose]: () => remote[Symbol.dispose]() };
}

function rateOf(text: string): number {
  const [, number, unit = ""] = /^(\d+)([kM]?)$/.exec(text) ?? [];
  if (number === undefined || Number(number) === 0)
    throw usageError(
      `"${text}" is not a rate. Nothing was sent.`,
      "For example: 500k or 2M, in bytes per second.",
    );
  return Number(number) * (unit === "M" ? 1024 * 1024 : unit === "k" ? 1024 : 1);
}

/** Does something with a bar; the process that started this command learns how far it is too. */
export async function withBar<Result>(
  call: Pick<Call, "json" | "output">,
  [label, noun]: readonly [string, string],
  work: (progress: (done: number, total: number) => void) => Promise<Result>,
): Promise<Result> {
  using bar = createProgressBar(label, noun, !call.json && !call.output.quiet);
  return await work((done, total) => {
    bar.update({ done, total });
    tellParentProcess({ done, total });
  });
}

/** What a push did, for people. */
export function pushedText(report: PushedLine, name: string): string {
  return [
    ...forgottenText(report),
    sentText(report, name),
    ...keptText(report, name),
    ...rewrittenText(report),
  ].join("\n");
}

/** [R2027] What an admin had this machine forget. */
function forgottenText({ forgotten }: Pick<PushedLine, "forgotten">): string[] {
  if (forgotten === null) return [];
  const { by, checkpoints } = forgotten;
  return [
    `${by.map(visible).join(", ")} asked every machine to forget something: it was purged from ${count(checkpoints.length, "checkpoint")} here. Files on disk are untouched.`,
  ];
}

/** [R2020] What stays at home, and what left it before it was to stay. */
function keptText({ withheld, sentBefore }: PushReport, name: string): string[] {
  const listed = (paths: readonly string[]) => {
    const more = paths.length > NAMED_PATHS ? ` and ${paths.length - NAMED_PATHS} more` : "";
    return `${paths.slice(0, NAMED_PATHS).map(visible).join(", ")}${more}`;
  };
  const kept = `Kept at home (sync.withhold): ${listed(withheld)}.`;
  const sent = `Sent before they were to be kept at home, and still in ${visible(name)}, encrypted: ${listed(sentBefore)}.`;
  return [
    ...(withheld.length === 0 ? [] : [kept]),
    ...(sentBefore.length === 0
      ? []
      : [sent, "→ `belay forget <path>` takes a path out of all checkpoints, here and there."]),
  ];
}

/** [R2245] What an admin had this machine encrypt again. */
function rewrittenText({ rewritten }: PushReport): string[] {
  if (rewritten === null) return [];
  return [`An admin asked every machine to encrypt its line again: ${size(rewritten.bytes)} were.`];
}

/** As many paths are named in a sentence. */
const NAMED_PATHS = 10;

function sentText({ outcome, checkpoints, bytes, borrowed }: PushReport, name: string): string {
  if (outcome === "unchanged") return `${visible(name)} has everything that was to be sent.`;
  const reused = borrowed === 0 ? "" : `, ${count(borrowed, "object")} already there`;
  const rest = outcome === "partial" ? " More waits: `belay push` sends it." : "";
  return `Pushed ${count(checkpoints, "checkpoint")} to ${visible(name)}: ${size(bytes)}${reused}.${rest}`;
}

/** What a push did, for programs. */
export function pushedJson(report: PushedLine, name: string): Record<string, unknown> {
  const { forkedFrom: _, adoptedBy, rewritten, sentBefore, forgotten, ...facts } = report;
  return {
    ...facts,
    remote: name,
    ...(sentBefore.length > 0 && { sentBefore }),
    ...(forgotten !== null && { forgotten }),
    ...(adoptedBy !== null && { adoptedBy }),
    ...(rewritten !== null && { rewritten }),
  };
}

/** What a pull found, for people. */
export function pulledText(
  { lines, annotations, forgotten }: PulledLines,
  name: string,
  reviews: readonly FollowedReview[],
): string {
  const taken =
    annotations === 0
      ? []
      : [`${count(annotations, "name, note, tag or review", "names, notes, tags or reviews")} taken over.`];
  const written = [...taken, ...forgottenText({ forgotten }), ...reviewsText(reviews)];
  if (lines.length === 0) return ["No other line has moved.", ...written].join("\n");
  const rows = lines.map((line) => {
    const newest = line.newest === null ? "" : `: ${visible(line.newest.description)}`;
    const what = `${count(line.checkpoints, "checkpoint")}, ${relativeTime(line.at)}${newest}`;
    return `${visible(line.name)}  ${what}\n  → \`belay open ${visible(`${name}/${line.name}/@`)}\``;
  });
  return [...rows, ...written].join("\n");
}

/** What a pull found, for programs. */
export function pulledJson(
  { outcome, lines, annotations, forgotten }: PulledLines,
  remote: string,
  reviews: readonly FollowedReview[],
) {
  return {
    outcome,
    remote,
    lines: lines.map((line) => ({ ...lineJson(line, remote), checkpoints: line.checkpoints })),
    annotations,
    reviews: reviewsJson(reviews),
    ...(forgotten !== null && { forgotten }),
  };
}

/** A line of another machine, for programs. */
export function lineJson({ line, name, member, device, at, newest }: OtherLine, remote: string) {
  return {
    line,
    name,
    member,
    device,
    at: new Date(at).toISOString(),
    newest: newest === null ? null : lineCheckpointJson(newest, remote),
  };
}

/** A checkpoint of another line for `--json`: it is not in this store. */
export function lineCheckpointJson({ line, createdAt, ...facts }: LineCheckpoint, remote: string) {
  return {
    ...facts,
    createdAt: new Date(createdAt).toISOString(),
    synced: true,
    origin: { remote, line },
  };
}
