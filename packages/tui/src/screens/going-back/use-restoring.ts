/** The state of a restore preview: the choices, the plan of all files and the plan of the chosen ones. */
import { useRef, useState } from "react";
import { useSource } from "../../data/source.tsx";
import { forkFor, type Forked, type Plan, type PlanRequest } from "../../plans/plan.ts";
import type { RestoreTarget } from "./restore-target.ts";
import { usePlan } from "./use-plans.ts";

/** What goes back, and to where. A reset goes to the approved state of a thread. */
export interface RestoreProps {
  readonly kind: "restore" | "reset";
  readonly target: RestoreTarget;
  /** Only these files. */
  readonly paths?: readonly string[];
  /** Of one file only these hunks. */
  readonly hunks?: NonNullable<PlanRequest["hunks"]>;
  /** What follows when it is done; else the first screen. */
  finished?(): void;
}

/** What was chosen so far. */
export interface Choices {
  readonly scope: NonNullable<PlanRequest["scope"]>;
  readonly keepNew: boolean;
  readonly unchecked: ReadonlySet<string>;
  readonly taken: ReadonlySet<string>;
}

/** Before anything is chosen. */
const FIRST: Choices = { scope: "files", keepNew: false, unchecked: new Set(), taken: new Set() };
const NO_PATHS: ReadonlySet<string> = new Set();

/** What the preview works with. */
export interface Restoring {
  readonly choices: Choices;
  /** The plan of all files; undefined while there is none. */
  readonly plan: Plan | null | undefined;
  readonly error: string | undefined;
  /** The plan that y would carry out. */
  readonly effective: { readonly plan: Plan | null | undefined; readonly isCurrent: boolean };
  readonly others: readonly OtherWork[];
  /** Paths that an earlier, stale plan did not have. */
  readonly fresh: ReadonlySet<string>;
  readonly remark: readonly string[];
  choose(change: Partial<Choices>): void;
  say(...remark: readonly string[]): void;
  /** Makes the plans again, of the files as they are now. */
  again(isStale: boolean): void;
  /** The request without any choice. */
  readonly request: PlanRequest;
  /** Takes the conversation back, if that was chosen; once, also where the files moved on and the plan is made again. */
  fork(): Promise<void>;
  forked(): Forked | undefined;
}

/** Another thread's work, left alone or taken too. */
export type OtherWork = Plan["leftAlone"][number];

/** Keeps the state of the preview of a restore. */
export function useRestoring(props: RestoreProps): Restoring {
  const [choices, setChoices] = useState(FIRST);
  const [remark, setRemark] = useState<readonly string[]>([]);
  const work = useOthersWork();
  const all = usePlan(requestOf(props, choices, work.known()));
  const { plan } = all;
  work.learn(plan);
  const others = work.known();
  const chosen = usePlan(chosenRequest(props, { choices, plan, others }));
  const fresh = useFreshPaths(plan);
  return {
    choices,
    plan,
    error: all.error ?? chosen.error,
    // with every file chosen, the plan of all is the plan that would be carried out
    effective: choices.unchecked.size === 0 ? all : chosen,
    others,
    fresh: fresh.paths,
    remark,
    request: requestOf(props, FIRST, []),
    ...useFork(requestOf(props, choices, others)),
    choose(change) {
      setRemark([]);
      setChoices({ ...choices, ...change });
    },
    say: (...texts) => setRemark(texts),
    again(isStale) {
      if (isStale) fresh.mark();
      all.again();
      chosen.again();
    },
  };
}

/** The conversation that goes back before the files do. */
function useFork(request: PlanRequest): Pick<Restoring, "fork" | "forked"> {
  const source = useSource();
  const made = useRef<Forked>(undefined);
  return {
    fork: async () => {
      made.current ??= await forkFor(source, source.place.workspace, request);
    },
    forked: () => made.current,
  };
}

/** Other threads' work, as the plans told of it: it stays on the list when it is taken too. */
function useOthersWork() {
  const known = useRef(new Map<string, OtherWork>());
  return {
    known: () => [...known.current.values()],
    learn(plan: Plan | null | undefined) {
      for (const work of plan?.leftAlone ?? []) known.current.set(work.thread, work);
    },
  };
}

/** The paths that came with the plan that followed a stale one. */
function useFreshPaths(plan: Plan | null | undefined) {
  const [known, setKnown] = useState<ReadonlySet<string>>();
  const paths = plan?.files.map(({ path }) => path) ?? [];
  return {
    paths: known === undefined ? NO_PATHS : new Set(paths.filter((path) => !known.has(path))),
    /** Takes the present plan as the known one. */
    mark: () => setKnown(new Set(paths)),
  };
}

function requestOf(
  { kind, target, paths, hunks }: RestoreProps,
  { scope, keepNew, taken }: Choices,
  others: readonly OtherWork[],
): PlanRequest {
  const thread = target.thread === null ? {} : { thread: target.thread };
  if (kind === "reset") return { kind, ...thread };
  const left = others.map((work) => work.thread).filter((each) => !taken.has(each));
  return {
    kind,
    target: target.ref,
    ...thread,
    scope,
    ...(keepNew && { keepNew }),
    ...(taken.size > 0 && { exceptThreads: left }),
    ...(paths && { paths: [...paths] }),
    ...(hunks && { hunks: [...hunks] }),
  };
}

/** The request for the chosen files only; none while all are chosen. */
function chosenRequest(
  props: RestoreProps,
  {
    choices,
    plan,
    others,
  }: { choices: Choices; plan: Plan | null | undefined; others: readonly OtherWork[] },
): PlanRequest | undefined {
  if (choices.unchecked.size === 0 || !plan) return undefined;
  const paths = plan.files.map(({ path }) => path).filter((path) => !choices.unchecked.has(path));
  return paths.length === 0 ? undefined : { ...requestOf(props, choices, others), paths };
}
