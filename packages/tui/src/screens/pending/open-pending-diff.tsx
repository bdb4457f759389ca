/** What is pending in a thread as a diff: its approved state against the files on disk. */
import { DISK } from "../../data/comparisons.ts";
import type { Frame } from "../../frame/frame.tsx";
import { line } from "../../frame/line.ts";
import { visibleLine } from "../../text/visible.ts";
import { PENDING } from "../../words.ts";
import { DiffScreen } from "../diff/diff.tsx";
import type { PendingThread } from "./pending-data.ts";

/** Opens the diff of what is pending, at a file if one is named. */
export function openPendingDiff(frame: Frame, thread: PendingThread, path: string | undefined): void {
  const { approved, files } = thread;
  if (approved === null || files.length === 0)
    return frame.say([line(`  ${PENDING.nothingToApprove(visibleLine(thread.title))}`)]);
  const title = { from: PENDING.approvedState(visibleLine(thread.title)), to: PENDING.onDisk };
  const only = new Set(files.map((file) => file.path));
  frame.open(
    <DiffScreen pair={{ from: approved, to: DISK, only }} title={title} path={path ?? files[0]!.path} />,
  );
}
