/** Further working copies, each in a directory and on a branch of its own. */
import { CommandLine, Icon, quantity, shellWord, size, useBelay, useLoaded, visible } from "@belay/react";
import type { ReactNode } from "react";

/** The card; nothing where there is no fork. */
export function ForksCard({ version }: { readonly version: number }): ReactNode {
  const { client, workspace } = useBelay();
  const { value } = useLoaded(`forks ${workspace} ${version} !`, () =>
    client.call("GET /api/forks", { query: { workspace } }),
  );
  const forks = value?.forks ?? [];
  if (forks.length === 0) return null;
  return (
    <section className="b-card b-in" aria-label="Forks">
      <h2>Forks</h2>
      <ul className="b-branches">
        {forks.map(({ id, name, path, state, files, bytesOnDisk }) => (
          <li key={id} className="b-row b-branch">
            <Icon name="folder" />
            <span className="b-col b-grow">
              <span className="b-row b-gap4 b-wraps">
                <span className="b-mono b-strong">{visible(name)}</span>
                {state === "ready" ? null : <span className="b-chip b-warn">{state}</span>}
              </span>
              <span className="b-small b-muted b-cut" title={visible(path)}>
                {visible(path)}
              </span>
              <span className="b-small b-muted">
                {quantity(files, "file")} · {size(bytesOnDisk)}
              </span>
            </span>
          </li>
        ))}
      </ul>
      <CommandLine
        words="Remove one; everything in it is captured first"
        line={`belay fork remove ${shellWord(forks[0]!.name)}`}
      />
    </section>
  );
}
