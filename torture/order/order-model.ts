/**
 * What undo, redo and restore must do, in the plainest form: files are strings in a map, a step is a list of
 * changes, and no product code is used. Changes are attributed by which calls were open when they were seen;
 * a step is taken out by reversing its changes. The model knows no processes, stores, rules or directories.
 */
import { mergeFiles } from "./slot-file.ts";

export type Files = ReadonlyMap<string, string>;
type Content = string | undefined;

/** One path from one content to another, by one step; or by several, where it is unknown whose it was. */
interface Change {
  /** When it was seen. */
  readonly at: number;
  readonly path: string;
  readonly from: Content;
  readonly to: Content;
  readonly owners: ReadonlySet<Step>;
}

export interface Step {
  readonly kind: "turn" | "restore";
  /** The player who made it; undefined for the user. */
  readonly thread: string | undefined;
  /** The prompt. */
  readonly title: string;
  readonly changes: Change[];
  /** When its last change was made. */
  last: number;
}

export interface Turn {
  readonly thread: string;
  readonly title: string;
  /** Where the turn's changes are recorded; after a restore, or its own undo, in another step. */
  step: Step;
}

export interface Call {
  readonly turn: Turn;
  /** The paths that its input names; undefined for a shell command. */
  readonly names: readonly string[] | undefined;
}

export interface Scope {
  readonly count: number;
  readonly thread?: string | undefined;
  readonly includeShared?: boolean;
  /** Only what was done to this path. */
  readonly path?: string | undefined;
}

export type Verdict =
  | { readonly outcome: "nothing" }
  | { readonly outcome: "refused"; readonly why: string }
  | { readonly outcome: "done"; readonly steps: readonly Step[] };

export class OrderModel {
  readonly disk = new Map<string, string>();
  readonly calls = new Set<Call>();
  /** Calls whose end was not reported since the last capture. */
  readonly #cutOff = new Set<Call>();
  #seen: Files = new Map();
  #now = 0;
  #applied: Step[] = [];
  readonly #undone: Step[] = [];

  constructor(files: Files) {
    for (const [path, content] of files) this.disk.set(path, content);
    this.#seen = files;
  }

  beginTurn(thread: string, title: string): Turn {
    this.capture();
    return { thread, title, step: newStep("turn", thread, title) };
  }

  openCall(turn: Turn, names: readonly string[] | undefined): Call {
    this.capture();
    const call = { turn, names };
    this.calls.add(call);
    return call;
  }

  closeCall(call: Call): void {
    this.capture();
    this.calls.delete(call);
  }

  /** It ended without an event: until the next capture its window is open. */
  cutOff(call: Call): void {
    this.calls.delete(call);
    this.#cutOff.add(call);
  }

  /** Until the next capture, changes by hand could be those of a call that was cut off. */
  get isUnclear(): boolean {
    return this.#cutOff.size > 0;
  }

  /** Attributes the changes since the last capture. */
  capture(): void {
    this.#now += 1;
    const open = [...this.calls, ...this.#cutOff];
    for (const path of new Set([...this.#seen.keys(), ...this.disk.keys()])) {
      const [from, to] = [this.#seen.get(path), this.disk.get(path)];
      if (from === to) continue;
      const owners = new Set(ownersOf(path, open).map(({ turn }) => this.#stepOf(turn)));
      const change = { at: this.#now, path, from, to, owners };
      for (const owner of owners) {
        owner.changes.push(change);
        owner.last = this.#now;
        if (!this.#applied.includes(owner)) this.#applied.push(owner);
      }
    }
    this.#seen = new Map(this.disk);
    this.#cutOff.clear();
  }

  /** The step that gets a change of the turn now: after a restore, a step of its own. */
  #stepOf(turn: Turn): Step {
    const { step } = turn;
    const isPast = this.#applied.some(({ kind, last }) => kind === "restore" && last > step.last);
    if (isPast) renew(turn);
    return turn.step;
  }

  /** Back to `target`, all of it or some paths. */
  restore(target: Files, paths: readonly string[] | undefined): void {
    this.capture();
    const step = newStep("restore", undefined, "");
    const at = ++this.#now;
    for (const path of paths ?? new Set([...this.disk.keys(), ...target.keys()])) {
      const [from, to] = [this.disk.get(path), target.get(path)];
      if (from !== to) step.changes.push({ at, path, from, to, owners: new Set([step]) });
      put(this.disk, path, to);
    }
    this.#seen = new Map(this.disk);
    if (step.changes.length === 0) return;
    step.last = at;
    this.#applied.push(step);
  }

  /** Whether the model can tell which step comes first: two may have been seen in one capture. */
  isOrderClear({ count, thread }: Scope): boolean {
    const takeBack = this.#try();
    const steps = this.#inOrder(this.#applied, thread);
    const times = steps.map(({ last }) => last);
    takeBack();
    return times.length <= count || times.at(-count) !== times.at(-count - 1);
  }

  undo(scope: Scope, turns: Iterable<Turn>): Verdict {
    const takeBack = this.#try();
    const steps = this.#inOrder(this.#applied, scope.thread).slice(-scope.count).toReversed();
    const verdict = this.#apply(steps, scope, "back");
    if (verdict.outcome !== "done") {
      takeBack();
      return verdict;
    }
    this.#applied = this.#applied.filter((step) => !steps.includes(step));
    this.#undone.push(...steps);
    for (const turn of turns) {
      if (!steps.includes(turn.step)) continue;
      renew(turn);
      for (const call of this.calls) if (call.turn === turn) this.calls.delete(call);
    }
    return verdict;
  }

  /** How much of the steps that an undo would take is of its path. */
  partOf({ count, thread, path }: Scope): "all" | "some" | "none" {
    const takeBack = this.#try();
    const steps = this.#inOrder(this.#applied, thread).slice(-count);
    const own = steps.flatMap(({ changes }) => changes.map((change) => change.path === path));
    takeBack();
    return own.includes(true) ? (own.includes(false) ? "some" : "all") : "none";
  }

  /** Takes out what the last steps did to one path. They stay where they are; taking out the part is a step of its own. */
  undoPart(scope: Scope): Verdict {
    const takeBack = this.#try();
    const steps = this.#inOrder(this.#applied, scope.thread).slice(-scope.count).toReversed();
    const before = this.disk.get(scope.path!);
    const verdict = this.#apply(steps, scope, "back");
    if (verdict.outcome !== "done") {
      takeBack();
      return verdict;
    }
    const [thread, ...others] = new Set(steps.map((step) => step.thread));
    const part = newStep("restore", others.length === 0 ? thread : undefined, "");
    const after = this.disk.get(scope.path!);
    if (before === after) return verdict;
    part.last = ++this.#now;
    part.changes.push({ at: part.last, path: scope.path!, from: before, to: after, owners: new Set([part]) });
    this.#applied.push(part);
    return verdict;
  }

  redo(scope: Scope): Verdict {
    const takeBack = this.#try();
    const inScope = this.#undone.filter(
      ({ thread }) => scope.thread === undefined || thread === scope.thread,
    );
    const steps = inScope.slice(-scope.count).toReversed();
    const verdict = this.#apply(steps, scope, "again");
    if (verdict.outcome !== "done") {
      takeBack();
      return verdict;
    }
    for (const step of steps) {
      this.#undone.splice(this.#undone.indexOf(step), 1);
      step.last = ++this.#now;
      this.#applied.push(step);
    }
    return verdict;
  }

  /** A step that shares changes with another is not redone here: the design does not say whose they are then. */
  isRedoClear({ count, thread }: Scope): boolean {
    const inScope = this.#undone.filter((step) => thread === undefined || step.thread === thread);
    return inScope.slice(-count).every(({ changes }) => changes.every(({ owners }) => owners.size === 1));
  }

  /** A capture that leaves no trace if the operation is refused. */
  #try(): () => void {
    const [seen, applied, cutOff] = [this.#seen, [...this.#applied], [...this.#cutOff]];
    const turns = new Set([...this.calls, ...this.#cutOff].map(({ turn }) => turn));
    const before = [...turns].map((turn) => ({
      turn,
      step: turn.step,
      length: turn.step.changes.length,
      last: turn.step.last,
    }));
    this.capture();
    return () => {
      this.#seen = seen;
      this.#applied = applied;
      for (const call of cutOff) this.#cutOff.add(call);
      for (const { turn, step, length, last } of before) {
        turn.step = step;
        step.changes.length = length;
        step.last = last;
      }
    };
  }

  #inOrder(steps: readonly Step[], thread: string | undefined): Step[] {
    return steps
      .filter((step) => thread === undefined || step.thread === thread)
      .filter(({ changes }) => joined(changes).length > 0)
      .toSorted((a, b) => a.last - b.last);
  }

  #apply(steps: readonly Step[], scope: Scope, direction: "back" | "again"): Verdict {
    if (steps.length === 0) return { outcome: "nothing" };
    if (steps.length < scope.count) return { outcome: "refused", why: "fewer steps than asked for" };
    const files = new Map(this.disk);
    // changes of several steps are taken in the order they happened, and shared ones once
    const all = [...new Set(steps.flatMap((step) => step.changes))].sort((a, b) => a.at - b.at);
    const changes = joined(all.filter(({ path }) => scope.path === undefined || path === scope.path));
    for (const change of direction === "back" ? changes.toReversed().map(inverse) : changes) {
      const why = this.#change(files, change, { steps, scope });
      if (why !== undefined) return { outcome: "refused", why: `${change.path}: ${why}` };
    }
    this.disk.clear();
    for (const [path, content] of files) this.disk.set(path, content);
    this.#seen = files;
    return { outcome: "done", steps };
  }

  #change(
    files: Map<string, string>,
    { path, from, to, owners }: Change,
    { steps, scope }: { steps: readonly Step[]; scope: Scope },
  ): string | undefined {
    const present = files.get(path);
    if (present === to) return undefined;
    const isTheirs = [...owners].some((owner) => !steps.includes(owner));
    if (isTheirs && scope.includeShared !== true) return "shared";
    const merged = mergeFiles({ base: from, ours: present, theirs: to });
    if (merged === "conflict") return "conflict";
    put(files, path, merged.content);
    return undefined;
  }
}

/** The one call that was open; of several the one that names the path, else all of them. */
function ownersOf(path: string, open: readonly Call[]): readonly Call[] {
  const naming = open.filter(({ names }) => names?.includes(path));
  return naming.length > 0 && open.length > 1 ? naming : open;
}

function newStep(kind: Step["kind"], thread: string | undefined, title: string): Step {
  return { kind, thread, title, changes: [], last: 0 };
}

function renew(turn: Turn): void {
  if (turn.step.changes.length > 0) turn.step = newStep("turn", turn.thread, turn.title);
}

/** Consecutive changes of a path are one; one that leads back to its beginning is none. */
function joined(changes: readonly Change[]): Change[] {
  const result: Change[] = [];
  for (const change of changes) {
    const at = result.findLastIndex(({ path }) => path === change.path);
    const before = result[at];
    const follows = before !== undefined && before.to === change.from && equal(before.owners, change.owners);
    if (follows) result.splice(at, 1, { ...change, from: before.from });
    else result.push(change);
  }
  return result.filter(({ from, to }) => from !== to);
}

function inverse({ from, to, ...change }: Change): Change {
  return { ...change, from: to, to: from };
}

function equal(a: ReadonlySet<Step>, b: ReadonlySet<Step>): boolean {
  return a.size === b.size && [...a].every((step) => b.has(step));
}

function put(files: Map<string, string>, path: string, content: Content): void {
  if (content === undefined) files.delete(path);
  else files.set(path, content);
}
