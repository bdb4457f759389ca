/** Where was this text, or this file, in any checkpoint? Which one had it last, and what became of it? */
import type { Context } from "../capture/context.ts";
import { absenceProof } from "../capture/proven-changes.ts";
import { lookUp } from "../diff/compare-trees.ts";
import { isBinary } from "../diff/content-kind.ts";
import { authorOfChange } from "../history/author-of-change.ts";
import { causeOfChange } from "../history/cause-of-change.ts";
import { listSnapshots } from "../history/list-checkpoints.ts";
import { resolveState } from "../history/references.ts";
import { readEnds, readStepFacts } from "../history/timeline-facts.ts";
import { turnNumbers } from "../history/turn-numbers.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import type {
  FindOptions,
  Findings,
  FoundAuthor,
  FoundCause,
  FoundEnd,
  FoundFile,
  FoundLine,
  FoundPlace,
  FoundSpan,
} from "../model/finding.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { PackScan } from "../store/pack-scan.ts";
import { createMatcher, type ContentMatcher } from "./content-matcher.ts";
import { contentAt } from "./file-content.ts";
import { traceLines } from "./line-history.ts";
import { lookAhead, matchingContents } from "./matching-contents.ts";
import { backTitle, inOneLine, turnTitle } from "./timeline-titles.ts";
import { tracePaths, type TracedCheckpoint, type TracedSpan } from "./trace-paths.ts";
import { wantedPaths } from "./wanted-paths.ts";

/** Larger files are named without the lines that match. */
const SHOWN_BYTES = 8 * 1024 * 1024;

/** More matching lines of one version are not followed: they are data, not code. */
const FOLLOWED_LINES = 1000;

/** Files on disk that are larger are taken to be as the newest checkpoint has them. */
const DISK_BYTES = 64 * 1024 * 1024;

/** Finds in the history what the options say. */
export async function findInHistory(context: Context, options: FindOptions): Promise<Findings> {
  const { db } = context.store;
  const matcher = createMatcher(options);
  const only = options.at === undefined ? undefined : resolveState(context, options.at);
  const scan = new PackScan(db);
  const ahead = matcher && (await lookAhead(scan, matcher, options));
  return db.unchanging(() => {
    const found = matcher && (ahead?.() ?? matchingContents(scan, matcher, options));
    const checkpoints = only === undefined ? listSnapshots(db) : [only];
    const isNothing = found?.names.size === 0;
    const trace = isNothing
      ? { spans: new Map<BytePath, TracedSpan[]>(), unreadable: 0 }
      : tracePaths(scan.objects, checkpoints, wantedPaths(options, found));
    const files = [...trace.spans].sort(newestFirst);
    const described = files.slice(0, options.limit ?? files.length);
    const describe = new Describer({ context, objects: scan.objects, matcher, oldest: checkpoints.at(-1) });
    return {
      files: described.map(([path, spans]) => describe.file(path, spans)),
      total: files.length,
      ...(options.history === true && {
        lines: described.flatMap(([path, spans]) => describe.lines(path, spans)),
      }),
      checkpoints: checkpoints.length,
      contents: found?.contents ?? 0,
      unreadable: scan.unreadable + trace.unreadable,
    };
  });
}

type PathSpans = readonly [BytePath, readonly TracedSpan[]];

/** Those that were there last come first, then in the order of paths. */
function newestFirst([pathA, [a]]: PathSpans, [pathB, [b]]: PathSpans): number {
  return b!.last.seq - a!.last.seq || (pathA < pathB ? -1 : 1);
}

class Describer {
  readonly #context: Context;
  readonly #objects: ObjectSource;
  readonly #matcher: ContentMatcher | undefined;
  readonly #oldest: TracedCheckpoint | undefined;

  constructor({
    context,
    objects,
    matcher,
    oldest,
  }: {
    context: Context;
    objects: ObjectSource;
    matcher: ContentMatcher | undefined;
    oldest: TracedCheckpoint | undefined;
  }) {
    this.#context = context;
    this.#objects = objects;
    this.#matcher = matcher;
    this.#oldest = oldest;
  }

  file(path: BytePath, spans: readonly TracedSpan[]): FoundFile {
    return {
      path,
      onDisk: this.#isOnDisk(path, spans[0]!),
      spans: spans.map((span) => this.#span(path, span)),
    };
  }

  /** When each line that matches was there, newest first. */
  lines(path: BytePath, spans: readonly TracedSpan[]): FoundLine[] {
    const traced = traceLines(spans, (entry) => this.#sample(entry, FOLLOWED_LINES).lines);
    return traced.map(({ text, first, last, gone }) => ({
      path,
      text,
      first: placeOf(first),
      last: gone === undefined ? null : placeOf(last),
      addedBy: first.seq === this.#oldest?.seq ? null : this.#author(first.seq, path),
      removedBy: gone === undefined ? null : this.#author(gone.seq, path),
    }));
  }

  #isOnDisk(path: BytePath, newest: TracedSpan): boolean {
    const file = contentAt(this.#context, null, path, DISK_BYTES);
    if (file === null) return false;
    if (this.#matcher === undefined) return true;
    return file.content === null ? newest.gone === undefined : this.#matcher.matches(file.content);
  }

  #span(path: BytePath, { first, last, entry, gone }: TracedSpan): FoundSpan {
    return {
      first: placeOf(first),
      last: placeOf(last),
      since: first.seq === this.#oldest?.seq ? null : this.#cause(first.seq, path),
      gone: gone === undefined ? null : this.#end(path, entry, gone),
      ...this.#sample(entry),
    };
  }

  #end(path: BytePath, was: Entry, checkpoint: TracedCheckpoint): FoundEnd {
    return {
      ...placeOf(checkpoint),
      how: this.#howGone(path, was, checkpoint),
      by: this.#cause(checkpoint.seq, path),
    };
  }

  #howGone(path: BytePath, was: Entry, checkpoint: TracedCheckpoint): FoundEnd["how"] {
    const { entry, gapAbove } = lookUp(this.#objects, checkpoint.snapshot, path);
    if (entry?.kind === "gap") return entry.reason === "forgotten" ? "forgotten" : "not-captured";
    if (gapAbove) return "not-captured";
    if (entry !== undefined) return "changed";
    // [N6] absent does not mean deleted: the rules of that checkpoint may have left it out
    return absenceProof(this.#objects, checkpoint)(path, was) ? "deleted" : "left-out";
  }

  #cause(seq: number, path: BytePath): FoundCause | null {
    const { db } = this.#context.store;
    const cause = causeOfChange(db, seq, path);
    if (cause === undefined) return null;
    const { step } = cause;
    const facts = step === null ? undefined : readStepFacts(db, [step]).get(step);
    if (facts?.kind === "turn") {
      const number = turnNumbers(db, [facts.seq]).get(facts.seq);
      return { ref: `T${number}`, title: turnTitle(facts), agent: facts.agent };
    }
    if (facts !== undefined) return { ref: String(seq), title: backTitle(db, facts), agent: null };
    // an undo or redo moves steps and is none
    const end = cause.attribution === "belay" ? readEnds(db, [seq]).get(seq) : undefined;
    if (end !== undefined) return { ref: String(seq), title: inOneLine(end.description), agent: null };
    return { ref: null, title: "Changed by hand", agent: null };
  }

  #author(seq: number, path: BytePath): FoundAuthor | null {
    const { db } = this.#context.store;
    const cause = this.#cause(seq, path);
    if (cause === null) return null;
    const step = causeOfChange(db, seq, path)?.step ?? null;
    const nobody = { thread: null, tool: null, messageId: null, prompt: null };
    return { ...cause, ...(step === null ? nobody : authorOfChange(db, seq, step)) };
  }

  #sample(entry: Entry, most?: number): Pick<FoundSpan, "binary" | "lines" | "lineNumbers"> {
    if (this.#matcher === undefined || entry.kind !== "file" || entry.size > SHOWN_BYTES)
      return { binary: false, lines: [], lineNumbers: [] };
    const content = this.#objects.read(entry.hash);
    if (isBinary(content)) return { binary: true, lines: [], lineNumbers: [] };
    return { binary: false, ...this.#matcher.lines(content, most) };
  }
}

function placeOf({ id, seq, createdAt }: TracedCheckpoint): FoundPlace {
  return { id, seq, at: createdAt };
}
