/** What can be done with a row besides its three buttons. */
import {
  afterOf,
  copyText,
  targetOf,
  titleOf,
  useBelay,
  useToast,
  type Belay,
  type HistoryRow,
  type PlanRequest,
  type Target,
} from "@belay/react";
import type { ReactNode } from "react";
import { go, viewPath } from "../address.ts";
import { MoreMenu, type MenuItem } from "../shell/more-menu.tsx";
import { exportedState, exportFiles } from "./export-files.ts";

/** The row, and what opens a preview. */
export interface RowMenuProps {
  readonly row: HistoryRow;
  onPlan(request: PlanRequest): void;
  /** Asks for the name of a branch that begins there. */
  onBranch(from: Pick<Target, "checkpoint" | "name">): void;
}

/** The button with three dots and its list. */
export function RowMenu(props: RowMenuProps): ReactNode {
  return <MoreMenu about={titleOf(props.row)} items={useItems(props)} />;
}

function useItems({ row, onPlan, onBranch }: RowMenuProps): MenuItem[] {
  const belay = useBelay();
  const toast = useToast();
  const after = afterOf(row);
  const target = targetOf(row);
  const said = (text: string) => () => toast({ text });
  const failed = (error: unknown) => toast({ text: (error as Error).message, isFailure: true });
  const restore = (to: Target) =>
    onPlan({
      kind: "restore",
      target: to.checkpoint,
      name: to.name,
      at: to.at,
      ...(row.thread && { thread: row.thread }),
    });
  const items: readonly (readonly [words: string, act: (() => void) | undefined])[] = [
    ["Copy its id", () => void copyText(row.id).then(said("The id was copied."), failed)],
    [
      "Copy as patch",
      row.before === null
        ? undefined
        : () => void copyPatch(belay, row).then(said("The patch was copied."), failed),
    ],
    [
      after === undefined ? "Export its files" : "Export the files after this",
      exportedState(row) === undefined
        ? undefined
        : () => void exportFiles(belay, row).then((name) => said(exported(name))(), failed),
    ],
    ["Restore to after this…", after && (() => restore(after))],
    ["Branch here…", target && (() => onBranch(target))],
    ["Forget a file…", () => go(viewPath(belay.workspace, "storage"))],
  ];
  return items.flatMap(([words, act]) => (act === undefined ? [] : [{ words, act }]));
}

function exported(name: string): string {
  return `All files of that state are in ${name}, with your browser’s downloads.`;
}

/** Copies what the row itself changed. */
async function copyPatch({ client, workspace }: Belay, { ref }: HistoryRow): Promise<void> {
  const { patchBase64 } = await client.call("GET /api/history/:seq/patch", {
    params: { seq: ref },
    query: { workspace },
  });
  const bytes = Uint8Array.from(atob(patchBase64), (sign) => sign.charCodeAt(0));
  await copyText(new TextDecoder().decode(bytes));
}
