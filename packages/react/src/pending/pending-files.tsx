/** The files of a thread that are not approved yet, each with its mark, its hunks and their way back. */
import { useState, type ReactNode } from "react";
import { StatusLetter } from "../diff/file-list.tsx";
import { hunksOfPatch, PatchLines, type PatchHunk } from "../diff/patch-lines.tsx";
import { Lines, PathName } from "../parts/icon.tsx";
import { useAct } from "../parts/use-act.ts";
import { changedLines, type PlanRequest } from "../plans/request.ts";
import { visible } from "../words.ts";
import { useSeen, type SeenMarks } from "./seen.ts";
import type { PendingSession } from "./use-session.ts";

type PendingFile = PendingSession["changedFiles"][number];

/** The files, and where their hunks go back to. */
export interface PendingFilesProps {
  readonly thread: string;
  readonly files: readonly PendingFile[];
  /** The checkpoint of the approved state; null where it is not known. */
  readonly base: string | null;
  onPlan(request: PlanRequest): void;
}

/** The files that wait for approval, with what to do about each. */
export function PendingFiles({ thread, files, base, onPlan }: PendingFilesProps): ReactNode {
  const seen = useSeen(thread);
  const [open, setOpen] = useState<string>();
  return (
    <div className="b-files">
      {files.map((file) => (
        <OneFile
          key={file.path}
          {...{ file, seen, base, thread, onPlan }}
          isOpen={open === file.path}
          onOpen={() => setOpen(open === file.path ? undefined : file.path)}
        />
      ))}
    </div>
  );
}

function OneFile(
  props: Omit<PendingFilesProps, "files"> & {
    readonly file: PendingFile;
    readonly seen: SeenMarks;
    readonly isOpen: boolean;
    onOpen(): void;
  },
): ReactNode {
  const { file, seen, isOpen } = props;
  const { path } = file;
  const hunks = hunksOfPatch(file.diff ?? "");
  // what has no lines is looked at as a whole
  const texts =
    hunks.length === 0
      ? [`${file.status} ${file.additions} ${file.deletions}`]
      : hunks.map(({ text }) => text);
  const state = seen.of(path, texts);
  const looked = texts.filter((text) => seen.isSeen(path, text)).length;
  return (
    <div>
      <div className="b-filerow">
        <input
          type="checkbox"
          className="b-box"
          aria-label={`Seen ${visible(path)}`}
          checked={state === "seen"}
          onChange={() => seen.mark({ path, hunks: texts }, texts, state !== "seen")}
        />
        <button type="button" className="b-plain b-row b-grow" aria-expanded={isOpen} onClick={props.onOpen}>
          <StatusLetter type={file.status} />
          <PathName path={path} />
          {state === "new since you looked" ? <span className="b-chip b-acc">{state}</span> : null}
          <span className="b-grow" />
          {state === "seen" ? <span className="b-tiny b-faint">seen</span> : null}
          {state !== "seen" && looked > 0 ? (
            <span className="b-tiny b-faint">
              {looked} of {texts.length} hunks seen
            </span>
          ) : null}
          <Lines plus={file.additions} minus={file.deletions} />
        </button>
      </div>
      {!isOpen ? null : hunks.length === 0 ? (
        <p className="b-skip">{whyNoLines(file)}</p>
      ) : (
        <PatchLines
          path={path}
          patch={file.diff ?? ""}
          tools={(hunk, index) => (
            <HunkTools
              {...props}
              hunk={hunk}
              name={`hunk ${index + 1} of ${visible(path)}`}
              onSeen={(isSeen) => seen.mark({ path, hunks: texts }, [hunk.text], isSeen)}
            />
          )}
        />
      )}
    </div>
  );
}

function whyNoLines({ isBinary, isTooLarge }: PendingFile): string {
  if (isBinary) return "Binary: no lines to show.";
  return isTooLarge ? "Too large to show." : "No lines to show.";
}

/** A hunk is ticked off, or goes back to the approved state. */
function HunkTools(
  props: Pick<PendingFilesProps, "thread" | "base" | "onPlan"> & {
    readonly file: PendingFile;
    readonly seen: SeenMarks;
    readonly hunk: PatchHunk;
    readonly name: string;
    onSeen(isSeen: boolean): void;
  },
): ReactNode {
  const { file, seen, hunk, name, base, onPlan } = props;
  const act = useAct();
  const isSeen = seen.isSeen(file.path, hunk.text);
  return (
    <>
      <label className="b-btn b-s b-quiet">
        <input
          type="checkbox"
          className="b-box"
          aria-label={`Seen ${name}`}
          checked={isSeen}
          onChange={() => props.onSeen(!isSeen)}
        />
        Seen
      </label>
      {base === null || file.pathBase64 !== undefined ? null : (
        <button
          type="button"
          className="b-btn b-s b-quiet"
          aria-label={`Undo this hunk… ${name}`}
          {...act(() =>
            onPlan({
              kind: "restore",
              target: base,
              thread: props.thread,
              name: `what was approved: ${visible(file.path)}`,
              paths: [file.path],
              lines: changedLines(linesOf(hunk)),
            }),
          )}
        >
          Undo this hunk…
        </button>
      )}
    </>
  );
}

/** The hunk as the diff of a comparison has it. */
function linesOf({ header, text }: PatchHunk): Parameters<typeof changedLines>[0] {
  const oldStart = Number(/^@@ -(\d+)/.exec(header)?.[1] ?? 1);
  const lines = text.split("\n").flatMap((line) => {
    const type = line[0] ?? " ";
    return type === "\\" ? [] : [{ type: type as " " | "+" | "-" }];
  });
  return { oldStart, lines };
}
