/** Which files of a row were not captured, said above its changes until it is not wanted any more. */
import { gapReason, Icon, quantity, size, useBelay, visible, type HistoryRow } from "@belay/react";
import { useState, type ReactNode } from "react";
import { go, viewPath } from "../address.ts";
import { isUnwanted, unwant } from "../unwanted-gaps.ts";
import { useDetailsOf } from "./details.tsx";

/** So many are named; all of them are in the details. */
const NAMED = 3;

/** The strip; nothing where all was captured. */
export function GapStrip({ row }: { readonly row: HistoryRow }): ReactNode {
  const { workspace } = useBelay();
  const checkpoint = useDetailsOf(row)?.checkpoint;
  const [hidden, setHidden] = useState(0);
  if (row.gaps === 0 || checkpoint === undefined) return null;
  const all = checkpoint.gaps;
  // a state may have gaps of earlier turns too: then only their number is sure
  const named = checkpoint.gapsTotal === row.gaps ? all : [];
  const wanted = named.filter(({ path }) => !isUnwanted(workspace, path));
  if (named.length > 0 && wanted.length === 0) return null;
  const count = named.length === 0 ? row.gaps : wanted.length;
  const [only] = count === 1 ? wanted : [];
  return (
    <div className="b-strip b-warn b-gaps" role="status" data-hidden={hidden}>
      <Icon name="warn" />
      <span>
        <span className="b-strong">
          {quantity(count, "file")} of this {row.kind === "turn" ? "turn" : "row"}{" "}
          {count === 1 ? "was" : "were"} not captured{wanted.length === 0 ? "." : ":"}
        </span>{" "}
        {wanted.slice(0, NAMED).map((gap, index) => (
          <span key={gap.path}>
            {index === 0 ? "" : "; "}
            <span className="b-mono">{visible(gap.path)}</span>, {size(gap.size)}, {gapReason(gap.reason)}
          </span>
        ))}
        {wanted.length > NAMED ? `; and ${wanted.length - NAMED} more` : ""}
        {wanted.length === 0 ? "" : "."} A restore leaves{" "}
        {count === 1 ? "it exactly as it is" : "them exactly as they are"}.
      </span>
      <span className="b-row b-gap4 b-wraps">
        <button type="button" className="b-btn b-s" onClick={() => go(viewPath(workspace, "settings"))}>
          Raise the limit…
        </button>
        {only === undefined ? null : (
          <button
            type="button"
            className="b-btn b-s b-quiet"
            onClick={() => {
              unwant(workspace, only.path, true);
              setHidden(hidden + 1);
            }}
          >
            Do not tell me about this file
          </button>
        )}
      </span>
    </div>
  );
}
