/** Two states, file by file. */
import {
  DiffView,
  FileTree,
  quantity,
  useBelay,
  useComparison,
  useLoaded,
  visible,
  type ChangedFile,
  type Comparison,
  type DiffLook,
  type Pair,
  useStatus,
  useThreads,
  useVersion,
} from "@belay/react";
import type { KeyboardEvent, ReactNode } from "react";
import { go, timelinePath } from "../address.ts";
import { useDialogs } from "../dialogs/use-dialogs.tsx";
import { usePreference } from "../preferences.ts";
import { Shell } from "../shell/shell.tsx";
import { CompareTools, StatePick } from "./compare-tools.tsx";

/** Below this width both sides do not fit beside each other. */
const SPLIT_FROM = 1100;
/** What the rail and the list of files take. */
const TREE = 344;

/** The comparison of two states; `to` may be the disk. */
export function CompareView({ from, to }: { readonly from: string; readonly to: string }): ReactNode {
  const { workspace } = useBelay();
  const version = useVersion();
  const status = useStatus(version);
  const threads = useThreads(version);
  const dialogs = useDialogs(() => undefined);
  const { look, tools } = useCompareLook();
  const pair: Pair = { from, to, version };
  const { value } = useComparison(pair);
  const names = { from: useStateName(from), to: useStateName(to) };
  const onKey = compareKeys({
    s: () => tools.setLayout(tools.layout === "split" ? "unified" : "split"),
    w: () => tools.setWhitespace(tools.whitespace === "exact" ? "ignore" : "exact"),
    "?": () => dialogs.open({ kind: "keys" }),
    Escape: () => go(timelinePath(workspace)),
    j: () => step(".b-diff", 1),
    k: () => step(".b-diff", -1),
    ".": () => step("[data-hunk]", 1),
    ",": () => step("[data-hunk]", -1),
  });
  const restore = (file: ChangedFile) =>
    dialogs.plan({
      kind: "restore",
      target: from,
      paths: file.from === undefined ? [file.path] : [file.from, file.path],
      name: `${names.from}: ${visible(file.path)}`,
    });
  return (
    <Shell
      workspace={workspace}
      status={status}
      threads={threads}
      working={[]}
      thread={undefined}
      isTight
      title="Compare"
      top={<Sides names={names} value={value} />}
    >
      <main className="b-cmp" onKeyDown={onKey}>
        <FileTree files={value?.files ?? []} />
        <div className="b-cmpmain">
          <CompareTools {...tools} />
          <div className="b-cmpbody" tabIndex={0} role="region" aria-label="Differences">
            <DiffView {...pair} look={look} actions={{ fileWords: "Restore this file…", onFile: restore }} />
          </div>
        </div>
      </main>
      {dialogs.element}
    </Shell>
  );
}

/** How differences are drawn, as this browser remembers it. */
function useCompareLook() {
  const [layout, setLayout] = usePreference<"unified" | "split">(
    "layout",
    innerWidth >= SPLIT_FROM + TREE ? "split" : "unified",
  );
  const [whitespace, setWhitespace] = usePreference<"exact" | "ignore">("whitespace", "exact");
  const [wrap, setWrap] = usePreference<"on" | "off">("wrap", "off");
  const look: DiffLook = {
    layout: innerWidth < SPLIT_FROM ? "unified" : layout,
    whitespace,
    wrap: wrap === "on",
    words: true,
  };
  return { look, tools: { layout, setLayout, whitespace, setWhitespace, wrap, setWrap } };
}

function Sides({
  names,
  value,
}: {
  readonly names: { from: string; to: string };
  readonly value: Comparison | undefined;
}): ReactNode {
  return (
    <>
      <StatePick letter="A" name={names.from} />
      <span className="b-muted">→</span>
      <StatePick letter="B" name={names.to} />
      <span className="b-grow" />
      <span className="b-small b-muted b-wide">
        {value === undefined ? "" : summaryWords(value.summary, value.filesTotal)}
      </span>
    </>
  );
}

function summaryWords(summary: { linesAdded: number; linesDeleted: number }, files: number): string {
  return `${quantity(files, "file")}, +${summary.linesAdded.toLocaleString("en")} −${summary.linesDeleted.toLocaleString("en")}`;
}

/** A state in words. */
function useStateName(state: string): string {
  const { client, workspace } = useBelay();
  const { value } = useLoaded(state === "disk" ? null : `checkpoint ${workspace} ${state}`, () =>
    client.call("GET /api/checkpoints/:id", { params: { id: state }, query: { workspace } }),
  );
  if (state === "disk") return "the files on disk";
  const checkpoint = value?.checkpoint;
  return visible(checkpoint?.name ?? checkpoint?.description ?? `checkpoint ${state.slice(0, 8)}`);
}

/** A handler for these keys, outside of fields. */
function compareKeys(actions: Readonly<Record<string, () => void>>): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = actions[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
}

/** Scrolls to the next or previous element of a kind. */
function step(selector: string, by: 1 | -1): void {
  const body = document.querySelector(".b-cmpbody");
  if (body === null) return;
  const top = body.getBoundingClientRect().top;
  const places = [...body.querySelectorAll(selector)].map((element) => ({
    element,
    at: element.getBoundingClientRect().top - top,
  }));
  const next = by > 0 ? places.find(({ at }) => at > 60) : places.findLast(({ at }) => at < -4);
  next?.element.scrollIntoView({ block: "start" });
}
