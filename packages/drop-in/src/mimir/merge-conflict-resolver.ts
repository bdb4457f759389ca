/**
 * Mimir's conflicts of agents that worked side by side: found by comparing snapshots, judged by Belay's merge of files,
 * settled by it, by a merger, or by the user.
 */
import { checkResolution, mergeFile, pathFromBytes, type Syntax } from "@belay/engine";
import type { FileSnapshot, MergeConflict, MergeResolution, ResolvedConflict, Snapshot } from "./types.ts";

/** An agent that settles conflicts, and thinks of ways to settle them. */
export interface MergerAgent {
  resolve(conflicts: MergeConflict[]): Promise<ResolvedConflict[]>;
  generateResolutionOptions?(conflicts: MergeConflict[]): Promise<unknown[]>;
}

/** Where the user chooses. */
export interface MergeConflictUI {
  show(conflicts: MergeConflict[], options: unknown[]): Promise<ResolvedConflict[]>;
}

/** Who settles what Belay does not. */
export interface MergeConflictResolverOptions {
  merger?: MergerAgent;
  ui?: MergeConflictUI;
  /** Whether what the merger made is good; without it Belay checks that it keeps to the conflict. */
  validate?: (resolved: ResolvedConflict[]) => Promise<{ success: boolean }>;
  /** What knows languages, such as `@belay/syntax`: without it no conflict is critical. */
  syntax?: Syntax;
}

/** Both sides of a conflict and what they began with. */
interface Sides {
  readonly path: string;
  readonly base: Buffer | undefined;
  readonly ours: Buffer;
  readonly theirs: Buffer;
  /** What the merge of lines makes of them, where that is certain. */
  readonly merged: Buffer | undefined;
}

/** Finds and settles the conflicts of agents that worked side by side. */
export class MergeConflictResolver {
  readonly #options: MergeConflictResolverOptions;
  /** What the conflicts that this resolver found are about. */
  readonly #sides = new WeakMap<MergeConflict, Sides>();

  constructor(options: MergeConflictResolverOptions = {}) {
    this.#options = options;
  }

  /** Compares snapshots; the oldest one is what the agents of the others began with. */
  async detectConflicts(snapshots: Snapshot[]): Promise<MergeConflict[]> {
    const [base, ...others] = snapshots.toSorted((a, b) => a.timestamp.getTime() - b.timestamp.getTime());
    if (base === undefined) return [];
    const known = byPath(base);
    const sides = others.map((snapshot) => ({ agent: nameOf(snapshot), files: byPath(snapshot) }));
    const paths = new Set([...known.keys(), ...sides.flatMap(({ files }) => [...files.keys()])]);
    return [...paths].toSorted().flatMap((path) => this.#at(path, known.get(path), sides) ?? []);
  }

  /** Settles what can be settled: low ones by Belay, medium ones by the merger, the rest by the user. */
  async resolveConflicts(conflicts: MergeConflict[]): Promise<MergeResolution> {
    const autoResolved = conflicts.flatMap((conflict) => this.#byLines(conflict) ?? []);
    const open = without(conflicts, autoResolved);
    const medium = open.filter(({ severity }) => severity === "low" || severity === "medium");
    const mergerResolved = await this.#byMerger(medium);
    const left = without(open, mergerResolved);
    const userResolved = await this.#byUser(left);
    const unresolved = without(left, userResolved);
    return {
      autoResolved,
      mergerResolved,
      userResolved,
      success: userResolved.length === 0 && unresolved.length === 0,
      settled: unresolved.length === 0,
      unresolved,
    };
  }

  #at(
    path: string,
    base: FileSnapshot | undefined,
    sides: readonly { agent: string; files: ReadonlyMap<string, FileSnapshot> }[],
  ): MergeConflict | undefined {
    const changed = sides
      .map(({ agent, files }) => ({ agent, file: files.get(path) }))
      .filter(({ file }) => file?.hash !== base?.hash);
    if (new Set(changed.map(({ file }) => file?.hash)).size < 2) return undefined;
    const agents = changed.map(({ agent }) => agent);
    const contents = changed.map(({ file }) => file?.content);
    if (contents.includes(undefined))
      return { path, agents, severity: "high", autoResolvable: false, reason: "one side deleted it" };
    return this.#judge({ path, agents, base: base?.content, contents: contents as Buffer[] });
  }

  /** Side after side is merged in; the worst that is met on the way is the conflict. */
  #judge({ path, agents, base, contents }: Met): MergeConflict {
    let [ours, ...rest] = contents as [Buffer, ...Buffer[]];
    let severity: MergeConflict["severity"] = "low";
    for (const theirs of rest) {
      const file = { path: bytesOf(path), base, ours, theirs };
      const verdict = mergeFile(file, this.#options.syntax);
      if (!verdict.taken) {
        const reason = verdict.facts[0]!.detail;
        const conflict = { path, agents, severity: verdict.severity, autoResolvable: false, reason };
        // of three sides, what the first ones came to stands against the next
        this.#sides.set(conflict, { path, base, ours, theirs, merged: undefined });
        return conflict;
      }
      if (verdict.severity !== "low") severity = "medium";
      ours = verdict.content;
    }
    const reason = severity === "low" ? "only the layout differs" : "both sides changed it, without overlap";
    const conflict: MergeConflict = { path, agents, severity, autoResolvable: true, reason };
    this.#sides.set(conflict, { path, base, ours: contents[0]!, theirs: contents[1]!, merged: ours });
    return conflict;
  }

  /** Low ones, and medium ones where there is no merger. */
  #byLines(conflict: MergeConflict): ResolvedConflict | undefined {
    const merged = this.#sides.get(conflict)?.merged;
    const isOurs = conflict.severity === "low" || this.#options.merger === undefined;
    if (merged === undefined || !isOurs) return undefined;
    return { path: conflict.path, resolution: "auto", content: merged.toString() };
  }

  async #byMerger(conflicts: MergeConflict[]): Promise<ResolvedConflict[]> {
    const { merger, validate } = this.#options;
    if (conflicts.length === 0 || merger === undefined) return [];
    const resolved = onlyOf(conflicts, await merger.resolve(conflicts));
    const { success } = (await validate?.(resolved)) ?? { success: this.#keepsTo(conflicts, resolved) };
    return success ? resolved : [];
  }

  #keepsTo(conflicts: readonly MergeConflict[], resolved: readonly ResolvedConflict[]): boolean {
    return resolved.every(({ path, content }) => {
      const conflict = conflicts.find((each) => each.path === path)!;
      const sides = this.#sides.get(conflict);
      if (sides === undefined) return true;
      const known = {
        path: bytesOf(path),
        content: (side: "base" | "ours" | "theirs") => sides[side] ?? null,
      };
      return checkResolution(known, { content: Buffer.from(content) }, this.#options.syntax).length === 0;
    });
  }

  async #byUser(conflicts: MergeConflict[]): Promise<ResolvedConflict[]> {
    const { merger, ui } = this.#options;
    if (conflicts.length === 0 || ui === undefined) return [];
    const options = (await merger?.generateResolutionOptions?.(conflicts)) ?? [];
    return onlyOf(conflicts, await ui.show(conflicts, options));
  }
}

interface Met {
  readonly path: string;
  readonly agents: string[];
  readonly base: Buffer | undefined;
  readonly contents: readonly Buffer[];
}

function byPath({ files }: Snapshot): Map<string, FileSnapshot> {
  return new Map(files.map((file) => [file.path, file]));
}

function nameOf({ agent, id }: Snapshot): string {
  return agent?.id ?? id;
}

function without(
  conflicts: readonly MergeConflict[],
  resolved: readonly ResolvedConflict[],
): MergeConflict[] {
  const paths = new Set(resolved.map(({ path }) => path));
  return conflicts.filter(({ path }) => !paths.has(path));
}

/** An answer about something that was not asked about counts for nothing. */
function onlyOf(
  conflicts: readonly MergeConflict[],
  resolved: readonly ResolvedConflict[],
): ResolvedConflict[] {
  return resolved.filter(({ path }) => conflicts.some((conflict) => conflict.path === path));
}

const bytesOf = (path: string) => pathFromBytes(Buffer.from(path));
