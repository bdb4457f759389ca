/** What would a plan do to each file, and who changed the file since? */
import type { Context } from "../capture/context.ts";
import { momentOf } from "../capture/moment.ts";
import { ALL_RECORDED, unrecordedIn } from "../capture/unrecorded.ts";
import { isBinary, TEXT_DIFF_LIMIT_BYTES } from "../diff/content-kind.ts";
import { countLines } from "../diff/unified.ts";
import { authorsSince, type Authors } from "../history/authors.ts";
import { checkpointAt, seqOf } from "../history/checkpoints.ts";
import { findStep } from "../history/step-rows.ts";
import { baseName, type BytePath } from "../model/byte-path.ts";
import { isLeaf, type Entry } from "../model/entry.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Edit, LatestChange, Plan } from "../model/plan.ts";
import type { PlanDetails, PlannedChange, PlannedFile } from "../model/plan-details.ts";
import type { Preview, Seen } from "../restore/go-back.ts";
import { LatestChanges } from "../restore/latest-changes.ts";
import { isRunnable } from "../restore/plan-warnings.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { threadsWorking } from "./threads-working.ts";

/** Lines are counted in this many files of a plan, and in this much content: a preview must not wait for thousands. */
const COUNTED_FILES = 500;
const COUNTED_BYTES = 8 * 1024 * 1024;

/** A plan in detail. */
export function describePlan(context: Context, preview: Preview): PlanDetails {
  return { files: describeFiles(context, preview), working: threadsWorking(context) };
}

function describeFiles(context: Context, { plan, seen }: Preview): PlannedFile[] {
  const { authors, latest } = changesOf(context, plan, seen);
  const own = ownThreads(context, plan);
  const files = plan.edits
    .filter(({ from, to }) => isLeaf(from) || isLeaf(to))
    .map((edit) => ({ edit, file: fileOf(plan, edit, { authors: authors.get(edit.path), own }) }))
    .sort((a, b) => compareFiles(a.file, b.file));
  const counter = new LineCounter(seen?.objects);
  return files.map(({ edit, file }, at) => {
    const writer = at < COUNTED_FILES ? latest(file.path) : undefined;
    return { ...file, ...counter.count(edit, file.scripts), ...(writer && { latest: writer }) };
  });
}

/** Who changed the files since, and what wrote each of them last, if that was a moment ago. */
function changesOf(
  context: Context,
  plan: Plan,
  seen: Seen | undefined,
): { authors: Map<BytePath, Authors>; latest(path: BytePath): LatestChange | undefined } {
  const since = sinceWhen(context, plan);
  if (since === undefined) return { authors: new Map(), latest: () => undefined };
  const unrecorded = seen?.present === undefined ? ALL_RECORDED : unrecordedIn(context, seen.present);
  const changes = new LatestChanges(context, { except: {}, unrecorded });
  const moment = momentOf(context);
  return {
    authors: authorsSince(context.store.db, since, unrecorded),
    latest: (path) =>
      (moment.changedAt(path) ?? 0) < moment.now - MOMENT_MS ? undefined : changes.of(path, since),
  };
}

/** What was written longer ago is no news. */
const MOMENT_MS = 60_000;

/** seq of the checkpoint after which changes concern the plan: its target, or the state before its oldest step. */
function sinceWhen({ store }: Context, { kind, checkpoint, steps }: Plan): number | undefined {
  const before = steps.flatMap(({ id }) => findStep(store.db, id)?.before ?? []);
  if (before.length > 0) return Math.min(...before);
  const seq = checkpoint === null ? undefined : seqOf(store.db, checkpoint);
  return kind === "revert" && seq !== undefined ? seq - 1 : seq;
}

/** The threads that the plan is about; none where a person goes back to a state of no thread. */
function ownThreads({ store }: Context, { thread, steps, checkpoint }: Plan): ReadonlySet<ThreadId> {
  const given = [...steps.map((step) => step.thread), thread].filter((each) => each !== null);
  if (given.length > 0 || checkpoint === null) return new Set(given);
  const of = checkpointAt(store.db, seqOf(store.db, checkpoint) ?? 0)?.thread ?? null;
  return new Set(of === null ? [] : [of]);
}

function fileOf(
  plan: Plan,
  { path, from, to }: Edit,
  { authors, own }: { authors: Authors | undefined; own: ReadonlySet<ThreadId> },
): Omit<PlannedFile, "plus" | "minus" | "binary"> {
  const threads = [...(authors?.threads ?? [])];
  return {
    path,
    change: changeOf(from, to),
    reasons: reasonsFor(plan, path),
    scripts: isRunnable(path),
    byHand: authors?.byHand ?? false,
    threads,
    others: own.size === 0 ? [] : threads.filter((thread) => !own.has(thread)),
  };
}

function changeOf(from: Entry | undefined, to: Entry | undefined): PlannedChange {
  if (to === undefined) return "delete";
  if (from === undefined) return "create";
  return from.kind === "file" && to.kind === "file" && from.hash === to.hash ? "mode" : "change";
}

/** Codes and phrases for what a preview says about one file. */
function reasonsFor({ merged, doubts, maybe }: Plan, path: BytePath): string[] {
  return [
    ...(merged.includes(path) ? ["merged with later changes"] : []),
    ...doubts.filter((doubt) => doubt.path === path).map(({ reason }) => reason),
    ...maybe.filter((each) => each.path === path).map(({ tool }) => `maybe not by ${tool}`),
  ];
}

const ORDER: readonly PlannedChange[] = ["delete", "change", "create", "mode"];

type Ordered = Omit<PlannedFile, "plus" | "minus" | "binary">;

function compareFiles(a: Ordered, b: Ordered): number {
  const byChange = ORDER.indexOf(a.change) - ORDER.indexOf(b.change);
  if (byChange !== 0) return byChange;
  const byMarks = marksOf(b) - marksOf(a);
  if (byMarks !== 0) return byMarks;
  return a.path < b.path ? -1 : 1;
}

function marksOf({ scripts, byHand, others, reasons }: Ordered): number {
  return Number(scripts) * 2 + Number(byHand || others.length > 0 || reasons.length > 0);
}

/** Counts lines until the preview has read enough. */
class LineCounter {
  readonly #objects: ObjectSource | undefined;
  #files = 0;
  #bytes = 0;

  constructor(objects: ObjectSource | undefined) {
    this.#objects = objects;
  }

  count(
    { path, from, to }: Edit,
    scripts: boolean,
  ): Pick<PlannedFile, "plus" | "minus" | "binary" | "scripts"> {
    const uncounted = { plus: null, minus: null, binary: false, scripts };
    const [before, after] = [this.#read(from), this.#read(to)];
    if (before === undefined || after === undefined) return uncounted;
    if (isBinary(before) || isBinary(after)) return { ...uncounted, binary: true };
    const { linesAdded, linesDeleted } = countLines(before, after);
    return {
      plus: linesAdded,
      minus: linesDeleted,
      binary: false,
      scripts: scripts && !(baseName(path) === "package.json" && haveSameScripts(before, after)),
    };
  }

  /** undefined where the content is not to be read. */
  #read(entry: Entry | undefined): Buffer | undefined {
    if (entry === undefined || entry.kind === "directory") return NOTHING;
    if (entry.kind === "gap" || entry.size > TEXT_DIFF_LIMIT_BYTES) return undefined;
    this.#files += 0.5;
    this.#bytes += entry.size;
    if (this.#files > COUNTED_FILES || this.#bytes > COUNTED_BYTES) return undefined;
    return this.#objects?.read(entry.hash);
  }
}

const NOTHING = Buffer.alloc(0);

function haveSameScripts(before: Buffer, after: Buffer): boolean {
  const [some, others] = [scriptsOf(before), scriptsOf(after)];
  return some !== undefined && some === others;
}

/** The scripts of a package as text; undefined where there is no reading them. */
function scriptsOf(content: Buffer): string | undefined {
  try {
    const { scripts = {} } = JSON.parse(content.toString("utf8")) as { scripts?: unknown };
    return JSON.stringify(scripts);
  } catch {
    return undefined;
  }
}
