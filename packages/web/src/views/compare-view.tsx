/** Two states, file by file. */
import {
  copyText,
  DiffView,
  fileId,
  FileTree,
  Icon,
  patchOf,
  quoted,
  quantity,
  useBelay,
  useDiff,
  useLoaded,
  visible,
  type ChangedFile,
  type Comparison,
  type DiffLook,
  type Pair,
  type PlanRequest,
  useStatus,
  useThreads,
  useToast,
  useVersion,
} from "@belay/react";
import { useState, type KeyboardEvent, type ReactNode } from "react";
import { comparePath, go, timelinePath } from "../address.ts";
import { useDialogs } from "../dialogs/use-dialogs.tsx";
import { lettersAct, usePreference } from "../preferences.ts";
import { Shell } from "../shell/shell.tsx";
import { CompareTools } from "./compare-tools.tsx";
import { diffActions } from "./diff-actions.ts";
import { mark, pressTop, step } from "./diff-steps.ts";
import { StatePick } from "./state-pick.tsx";

/** With this much room the two sides stand beside each other unless chosen otherwise. */
const SPLIT_FROM = 1100;
/** Up to this width there is no choice: they would be too narrow to read. */
const NARROW = 900;
/** What the rail and the list of files take. */
const TREE = 344;

/** The comparison of two states; `to` may be the disk. */
export function CompareView(props: {
  readonly from: string;
  readonly to: string;
  /** The file to begin with. */
  readonly file: string | null;
}): ReactNode {
  const { from, to } = props;
  const { workspace } = useBelay();
  const version = useVersion();
  const status = useStatus(version);
  const threads = useThreads(version);
  const dialogs = useDialogs(() => undefined);
  const [isFinding, setFinding] = useState(false);
  const { look, tools } = useCompareLook();
  const pair: Pair = { from, to, version };
  const { value } = useDiff(pair);
  const names = { from: useStateName(from), to: useStateName(to) };
  const { goTo, setGoTo, said, goToFile, keys } = useSteps(props.file, value?.files ?? []);
  const onKey = compareKeys({
    s: () => tools.setLayout(tools.layout === "split" ? "unified" : "split"),
    w: () => tools.setWhitespace(tools.whitespace === "exact" ? "ignore" : "exact"),
    "?": () => dialogs.open({ kind: "keys" }),
    Escape: () => go(timelinePath(workspace)),
    "/": () => setFinding(true),
    ...keys,
  });
  return (
    <Shell
      workspace={workspace}
      status={status}
      threads={threads}
      isTight
      title="Compare"
      top={<Sides {...{ workspace, from, to, names, value }} onRestore={dialogs.plan} />}
    >
      <main className="b-cmp" onKeyDown={onKey}>
        <FileTree files={value?.files ?? []} selected={goTo?.path} onSelect={setGoTo} />
        <div className="b-cmpmain">
          <CompareTools
            {...tools}
            files={value?.filesTotal ?? 0}
            onFind={() => setFinding(true)}
            onStep={goToFile}
          />
          <span className="b-vh" role="status">
            {said}
          </span>
          <div className="b-cmpbody" tabIndex={0} role="region" aria-label="Differences">
            <DiffView
              {...pair}
              look={look}
              goTo={goTo}
              onArrive={mark}
              isFinding={isFinding}
              onFindEnd={() => setFinding(false)}
              actions={diffActions({
                target: { checkpoint: from, name: names.from },
                verb: "Restore",
                onPlan: dialogs.plan,
              })}
            />
          </div>
        </div>
      </main>
      {dialogs.element}
    </Shell>
  );
}

/** The file that was gone to, the ways from file to file and hunk to hunk, and what is said of them to readers. */
function useSteps(first: string | null, files: readonly ChangedFile[]) {
  const [goTo, setFile] = useState(() => (first === null ? undefined : { path: first }));
  const [said, setSaid] = useState("");
  // another object each time, so that the same file can be gone to again
  const setGoTo = ({ path }: Pick<ChangedFile, "path">) => setFile({ path });
  const goToHunk = (by: 1 | -1) => setSaid(step("[data-hunk]", by));
  const goToFile = (by: 1 | -1) => {
    const next = step(".b-diff", by);
    // the files without a card are there too
    const beyond = next === "" ? fileBeyond(files, by) : undefined;
    setSaid(beyond === undefined ? next : visible(beyond.path));
    if (beyond !== undefined) setGoTo(beyond);
  };
  const keys = {
    f: () => pressTop(".b-diff", "[data-restore-file]"),
    h: () => pressTop(".b-diff [role=group]", "[data-restore-hunk]"),
    j: () => goToFile(1),
    k: () => goToFile(-1),
    ".": () => goToHunk(1),
    ",": () => goToHunk(-1),
  };
  return { goTo, setGoTo, said, goToFile, keys };
}

/** How differences are drawn, as this browser remembers it. */
function useCompareLook() {
  const [layout, setLayout] = usePreference<"unified" | "split">(
    "layout",
    innerWidth >= SPLIT_FROM + TREE ? "split" : "unified",
  );
  const [whitespace, setWhitespace] = usePreference<"exact" | "ignore">("whitespace", "exact");
  const [wrap, setWrap] = usePreference<"on" | "off">("wrap", "off");
  const [words, setWords] = usePreference<"on" | "off">("words", "on");
  const look: DiffLook = {
    layout: innerWidth <= NARROW ? "unified" : layout,
    whitespace,
    wrap: wrap === "on",
    words: words === "on",
  };
  return {
    look,
    tools: { layout, setLayout, whitespace, setWhitespace, wrap, setWrap, words, setWords },
  };
}

interface SidesProps {
  readonly workspace: string;
  readonly from: string;
  readonly to: string;
  readonly names: { readonly from: string; readonly to: string };
  readonly value: Comparison | undefined;
  onRestore(request: PlanRequest): void;
}

function Sides(props: SidesProps): ReactNode {
  const { workspace, from, to, names, value } = props;
  const belay = useBelay();
  const toast = useToast();
  const copy = () =>
    void patchOf(belay, { from, to }, value?.files ?? [])
      .then(copyText)
      .then(
        () => toast({ text: "The patch of all files was copied." }),
        (error: unknown) => toast({ text: (error as Error).message, isFailure: true }),
      );
  return (
    <>
      <button
        type="button"
        className="b-btn b-quiet b-icon"
        aria-label="Back to the timeline"
        onClick={() => go(timelinePath(workspace))}
      >
        <span className="b-turned">
          <Icon name="right" />
        </span>
      </button>
      <StatePick
        letter="A"
        name={names.from}
        state={from}
        onPick={(state) => go(comparePath(workspace, state, to))}
      />
      {to === "disk" ? (
        <span className="b-muted">→</span>
      ) : (
        <button
          type="button"
          className="b-btn b-quiet b-icon"
          aria-label="Swap the two states"
          title="Swap"
          onClick={() => go(comparePath(workspace, to, from))}
        >
          <Icon name="compare" />
        </button>
      )}
      <StatePick
        letter="B"
        name={names.to}
        state={to}
        hasDisk
        onPick={(state) => go(comparePath(workspace, from, state))}
      />
      <span className="b-grow" />
      <span className="b-small b-muted b-wide b-nowrap">
        {value === undefined ? "" : summaryWords(value.summary, value.filesTotal)}
      </span>
      <button type="button" className="b-btn b-narrow-hide" onClick={copy}>
        <Icon name="copy" />
        <span className="b-wide">Copy as patch</span>
        <span className="b-vh"> all files</span>
      </button>
      <button
        type="button"
        className="b-btn b-main"
        onClick={() => props.onRestore({ kind: "restore", target: from, name: names.from })}
      >
        <Icon name="back" />
        <span className="b-wide">Restore A…</span>
        <span className="b-vh">: {names.from}</span>
      </button>
    </>
  );
}

function summaryWords(
  { linesAdded, linesDeleted }: { linesAdded: number | null; linesDeleted: number | null },
  files: number,
): string {
  const lines =
    linesAdded === null || linesDeleted === null
      ? "lines not counted"
      : `+${linesAdded.toLocaleString("en")} −${linesDeleted.toLocaleString("en")}`;
  return `${quantity(files, "file")}, ${lines}`;
}

/** A state in words. */
function useStateName(state: string): string {
  const { client, workspace } = useBelay();
  const { value } = useLoaded(state === "disk" ? null : `checkpoint ${workspace} ${state}`, () =>
    client.call("GET /api/checkpoints/:id", { params: { id: state }, query: { workspace } }),
  );
  if (state === "disk") return "the files on disk";
  const checkpoint = value?.checkpoint;
  if (checkpoint === undefined) return `checkpoint ${state.slice(0, 8)}`;
  return visible(checkpoint.name ?? aroundTurn(checkpoint.description) ?? checkpoint.description);
}

/** `before “…”` and `after “…”` for the states on both sides of a turn. */
function aroundTurn(description: string): string | undefined {
  const [, before, after] = /^(?:Before user message: (.+)|After: (.+))$/s.exec(description) ?? [];
  if (before !== undefined) return `before ${quoted(before)}`;
  return after === undefined ? undefined : `after ${quoted(after)}`;
}

/** A handler for these keys, outside of fields. */
function compareKeys(actions: Readonly<Record<string, () => void>>): (event: KeyboardEvent) => void {
  return (event) => {
    const isFind = event.key === "f" && (event.ctrlKey || event.metaKey);
    if (isFind) {
      event.preventDefault();
      actions["/"]?.();
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = actions[event.key];
    if (act === undefined || (event.key.length === 1 && !lettersAct())) return;
    event.preventDefault();
    act();
  };
}

/** The file after the last one that has a card, or before the first. */
function fileBeyond(files: readonly ChangedFile[], by: 1 | -1): ChangedFile | undefined {
  const cards = [...document.querySelectorAll(".b-cmpbody .b-diff")];
  const edge = by > 0 ? cards.at(-1) : cards[0];
  const at = files.findIndex((file) => fileId(file) === edge?.id);
  return at < 0 ? undefined : files[at + by];
}
