/** How much space the store takes, how to make room, and what is protected. */
import { dayAndClock, Icon, quantity, size, useBelay, useLoaded, useToast, visible } from "@belay/react";
import { useState, type ReactNode } from "react";
import { useStatus, useThreads, useVersion, type Status } from "../shell/facts.ts";
import { Shell } from "../shell/shell.tsx";
import { PAGE } from "../words.ts";
import { MakeRoom } from "./make-room.tsx";

/** The view. */
export function StorageView(): ReactNode {
  const { client, workspace } = useBelay();
  const version = useVersion();
  const [changes, setChanges] = useState(0);
  const status = useStatus(version);
  const threads = useThreads(version);
  const { value } = useLoaded(`storage ${workspace} ${version} ${changes} !`, () =>
    client.call("GET /api/storage", { query: { workspace } }),
  );
  return (
    <Shell
      workspace={workspace}
      status={status}
      threads={threads}
      working={[]}
      thread={undefined}
      view="storage"
      title={PAGE.storage}
      top={
        <>
          <span className="b-strong">{PAGE.storage}</span>
          <span className="b-grow" />
          <Verify />
        </>
      }
    >
      <main className="b-page" tabIndex={0}>
        <div className="b-wrap">
          {value === undefined ? null : (
            <section className="b-card b-in" aria-label="Space used">
              <h2 className="b-large">
                {size(value.bytes)} of at most {size(value.capBytes)}
              </h2>
              <p className="b-muted">
                {quantity(value.checkpoints, "checkpoint")}
                {value.oldest === null ? "" : ` since ${dayAndClock(value.oldest)}`}. Equal content is stored
                once.
              </p>
              <progress
                className="b-bar b-thick"
                aria-label="Space used"
                value={value.bytes}
                max={value.capBytes}
              />
              <dl className="b-kinds">
                {Object.entries(value.byKind).map(([kind, count]) => (
                  <div key={kind}>
                    <dt>{KINDS[kind] ?? kind}</dt>
                    <dd className="b-num">{count.toLocaleString("en")}</dd>
                  </div>
                ))}
              </dl>
            </section>
          )}
          <MakeRoom onChanged={() => setChanges(changes + 1)} />
          {status === undefined ? null : <Coverage status={status} />}
        </div>
      </main>
    </Shell>
  );
}

/** Kinds of checkpoints as people say them. */
const KINDS: Readonly<Record<string, string>> = {
  initial: "The beginning",
  manual: "Yours",
  message: "Prompts",
  turn: "Ends of turns",
  tool: "Single tools",
  edit: "Edits",
  safety: "Safety",
  restore: "Restores",
  approved: "Approved",
};

const SHOWN = 50;

function Coverage({ status }: { readonly status: Status }): ReactNode {
  const { gaps, excluded } = status;
  return (
    <section className="b-card b-in" aria-label="What is protected">
      <h2>What is protected</h2>
      <p className="b-row">
        <Icon name="shield" />
        {quantity(status.newest?.files ?? 0, "file")}, captured as they change
      </p>
      {gaps.slice(0, SHOWN).map((gap) => (
        <p key={gap.path} className="b-row">
          <span className="b-warn">
            <Icon name="warn" />
          </span>
          <span className="b-mono b-cut">{visible(gap.path)}</span>
          <span className="b-muted">
            {size(gap.size)}, {gap.reason}
          </span>
        </p>
      ))}
      {excluded.length === 0 ? null : (
        <table className="b-table">
          <thead>
            <tr>
              <th>Left out</th>
              <th>by</th>
              <th className="b-r">size</th>
            </tr>
          </thead>
          <tbody>
            {excluded.slice(0, SHOWN).map((entry) => (
              <tr key={entry.path}>
                <td className="b-mono">{visible(entry.path)}</td>
                <td className="b-muted">{visible(entry.rule)}</td>
                <td className="b-r b-num">{entry.bytes === null ? "" : size(entry.bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** Proves the store sound; says what is affected where it is not. */
function Verify(): ReactNode {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const [isBusy, setBusy] = useState(false);
  const verify = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      const { ok, checkpoints, problems, problemsTotal } = await client.call("POST /api/verify", {
        query: { workspace },
        body: { full: true },
      });
      toast(
        ok
          ? { text: `${quantity(checkpoints, "checkpoint")} verified, every byte. The store is sound.` }
          : {
              text: `${quantity(problemsTotal, "problem")}: ${problems[0]?.detail ?? ""} Your files are untouched.`,
              isFailure: true,
            },
      );
    } catch (error) {
      toast({ text: (error as Error).message, isFailure: true });
    }
    setBusy(false);
  };
  return (
    <button type="button" className="b-btn" aria-disabled={isBusy} onClick={() => void verify()}>
      <Icon name="shield" />
      {isBusy ? "Verifying…" : "Verify"}
    </button>
  );
}
