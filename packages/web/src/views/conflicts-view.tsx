/** Conflicts, decided one after the other; there only while there are some. */
import { ConflictView, useBelay, useStatus, useThreads, useVersion } from "@belay/react";
import { useMemo, type ReactNode } from "react";
import { comparePath, conflictsOf, go, timelinePath } from "../address.ts";
import { lettersAct } from "../preferences.ts";
import { Shell } from "../shell/shell.tsx";

/** The view of a merge, by its id, or of a plan that was refused. */
export function ConflictsView(props: { readonly of: string; readonly query: URLSearchParams }): ReactNode {
  const { workspace } = useBelay();
  const version = useVersion();
  const status = useStatus(version);
  const threads = useThreads(version);
  const words = props.query.toString();
  const of = useMemo(() => conflictsOf(props.of, new URLSearchParams(words)), [props.of, words]);
  return (
    <ConflictView
      of={of}
      hasKeys={lettersAct()}
      onLeave={() => go(timelinePath(workspace))}
      compare={(from, to) => go(comparePath(workspace, from, to))}
      frame={(top, desk) => (
        <Shell
          workspace={workspace}
          status={status}
          threads={threads}
          view="conflicts"
          isTight
          title="Conflicts"
          top={top}
        >
          {desk}
        </Shell>
      )}
    />
  );
}
