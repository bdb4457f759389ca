/** How much space the store takes, how to make room, and what is protected. */
import type { CallOutput } from "@belay/protocol";
import { useState, type ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import { useStatus, useVersion, type Status } from "../data/facts.ts";
import { useLoaded } from "../data/loaded.ts";
import { Icon } from "../parts/icon.tsx";
import { useToast } from "../parts/toasts.tsx";
import { dayAndClock, quantity, size, visible } from "../words.ts";
import { MakeRoom } from "./make-room.tsx";

type Storage = CallOutput<"GET /api/storage">;

/** The panel: space, ways to make room, coverage. */
export function StoragePanel(): ReactNode {
  const { client, workspace } = useBelay();
  const version = useVersion();
  const [changes, setChanges] = useState(0);
  const status = useStatus(version);
  const { value, error } = useLoaded(`storage ${workspace} ${version} ${changes} !`, () =>
    client.call("GET /api/storage", { query: { workspace } }),
  );
  return (
    <div className="b-wrap">
      {error === undefined ? null : <p className="b-empty">{visible(error.message)}</p>}
      {value === undefined ? null : <Space storage={value} />}
      <MakeRoom onChanged={() => setChanges(changes + 1)} />
      {status === undefined ? null : <Coverage status={status} />}
    </div>
  );
}

function Space({ storage }: { readonly storage: Storage }): ReactNode {
  return (
    <section className="b-card b-in" aria-label="Space used">
      <h2 className="b-large">
        {size(storage.bytes)} of at most {size(storage.capBytes)}
      </h2>
      <p className="b-muted">
        {quantity(storage.checkpoints, "checkpoint")}
        {storage.oldest === null ? "" : ` since ${dayAndClock(storage.oldest)}`}. Equal content is stored
        once.
      </p>
      <progress
        className="b-bar b-thick"
        aria-label="Space used"
        value={storage.bytes}
        max={storage.capBytes}
      />
      <dl className="b-kinds">
        {Object.entries(storage.byKind).map(([kind, count]) => (
          <div key={kind}>
            <dt>{KINDS[kind] ?? kind}</dt>
            <dd className="b-num">{count.toLocaleString("en")}</dd>
          </div>
        ))}
      </dl>
    </section>
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
export function VerifyButton(): ReactNode {
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
