/** What can be done with a row besides its three buttons. */
import {
  afterOf,
  copyText,
  Icon,
  patchOf,
  targetOf,
  titleOf,
  useBelay,
  useToast,
  type Belay,
  type HistoryRow,
  type PlanRequest,
  type Target,
} from "@belay/react";
import { useRef, type ReactNode } from "react";
import { go, viewPath } from "../address.ts";

/** The row, and what opens a preview. */
export interface RowMenuProps {
  readonly row: HistoryRow;
  onPlan(request: PlanRequest): void;
  /** Asks for the name of a branch that begins there. */
  onBranch(from: Pick<Target, "checkpoint" | "name">): void;
}

/** The button with three dots and its list. */
export function RowMenu({ row, onPlan, onBranch }: RowMenuProps): ReactNode {
  const belay = useBelay();
  const toast = useToast();
  const list = useRef<HTMLDivElement>(null);
  const after = afterOf(row);
  const target = targetOf(row);
  const copied = (what: string) => () => toast({ text: `${what} was copied.` });
  const failed = (error: unknown) => toast({ text: (error as Error).message, isFailure: true });
  const items: readonly (readonly [words: string, act: (() => void) | undefined])[] = [
    ["Copy its id", () => void copyText(row.id).then(copied("The id"), failed)],
    [
      "Copy as patch",
      row.before === null ? undefined : () => void copyPatch(belay, row).then(copied("The patch"), failed),
    ],
    [
      "Restore to after this…",
      after &&
        (() =>
          onPlan({
            kind: "restore",
            target: after.checkpoint,
            name: after.name,
            at: after.at,
            ...(row.thread && { thread: row.thread }),
          })),
    ],
    ["Branch here…", target && (() => onBranch(target))],
    ["Forget a file…", () => go(viewPath(belay.workspace, "storage"))],
  ];
  return (
    <>
      <button
        type="button"
        className="b-btn b-icon b-quiet b-s"
        popoverTarget="row-menu"
        aria-label={`More about ${titleOf(row)}`}
        title="More"
      >
        <Icon name="more" />
      </button>
      <div
        ref={list}
        id="row-menu"
        popover="auto"
        className="b-menu b-row-menu"
        role="group"
        aria-label="More"
      >
        {items.map(([words, act]) =>
          act === undefined ? null : (
            <button
              key={words}
              type="button"
              className="b-menu-item"
              onClick={() => {
                list.current?.hidePopover();
                act();
              }}
            >
              {words}
            </button>
          ),
        )}
      </div>
    </>
  );
}

/** Copies what the row changed. */
async function copyPatch(belay: Belay, row: HistoryRow): Promise<void> {
  const { client, workspace } = belay;
  const pair = { from: row.before!, to: row.after ?? "disk" };
  const { files } = await client.call("GET /api/checkpoints/:a/files/:b", {
    params: { a: pair.from, b: pair.to },
    query: { workspace },
  });
  await copyText(await patchOf(belay, pair, files));
}
