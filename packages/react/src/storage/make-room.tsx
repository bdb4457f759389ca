/** Three ways to make room; two of them can be taken back, and the third says that it cannot. */
import type { CallOutput } from "@belay/protocol";
import { useState, type ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import { useLoaded } from "../data/loaded.ts";
import { Dialog } from "../parts/dialog.tsx";
import { useToast, type Toast } from "../parts/toasts.tsx";
import { useAct } from "../parts/use-act.ts";
import { dayAndClock, quantity, size, visible, WORDS } from "../words.ts";
import { ForgetDialog } from "./forget-dialog.tsx";

interface Preview {
  readonly drops: number;
  readonly kept: number;
  /** The first of them in words. */
  readonly first: readonly { readonly id: string; readonly words: string }[];
}

/** So many are named before they are dropped. */
const NAMED = 5;

/** The ways to make room, each with what it says afterwards. */
function useMakingRoom(onChanged: () => void) {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const query = { workspace };
  const tell = (work: () => Promise<Toast>) => () =>
    void work().then(
      (result) => {
        toast(result);
        onChanged();
      },
      (error: unknown) => toast({ text: (error as Error).message, isFailure: true }),
    );
  const free = tell(async () => {
    const { bytesBefore, bytesAfter } = await client.call("POST /api/gc", { query, body: {} });
    const freed = Math.max(0, bytesBefore - (bytesAfter ?? bytesBefore));
    return { text: `Freed ${size(freed)}. No checkpoint was removed.` };
  });
  const bringBack = tell(async () => {
    const { restoredTotal } = await client.call("POST /api/prune/undo", { query, body: {} });
    return { text: `Brought back ${quantity(restoredTotal, "checkpoint")}.` };
  });
  const prune = tell(async () => {
    const { pruned } = await client.call("POST /api/prune", { query, body: {} });
    return {
      text: `Dropped ${quantity(pruned.length, "checkpoint")}.`,
      action: { words: "Bring back", run: bringBack },
    };
  });
  const preview = async (): Promise<Preview> => {
    const { pruned, kept } = await client.call("POST /api/prune", { query, body: { dryRun: true } });
    const shown = pruned.slice(0, NAMED);
    const details = await Promise.all(
      shown.map((id) => client.call("GET /api/checkpoints/:id", { params: { id }, query })),
    );
    const first = details.map(({ checkpoint: { id, createdAt, name, description } }) => ({
      id,
      words: `${dayAndClock(createdAt)} · ${name ?? description}`,
    }));
    return { drops: pruned.length, kept, first };
  };
  return { free, bringBack, prune, preview };
}

/** What the first two ways would free now, counted in another process; undefined until it is known. */
function useEstimates(version: string) {
  const { client, workspace } = useBelay();
  const query = { workspace };
  const { value: gc } = useLoaded(`gc ${workspace} ${version} !`, () =>
    client.call("POST /api/gc", { query, body: { dryRun: true } }),
  );
  const { value: prune } = useLoaded(`prune ${workspace} ${version} !`, () =>
    client.call("GET /api/prune", { query }),
  );
  return { free: gc?.storedFreed ?? 0, prune };
}

/** "Would drop 1,204 checkpoints and free about 290 MiB." */
function pruneWords(estimate: CallOutput<"GET /api/prune"> | undefined): string {
  if (estimate === undefined) return "Drops old checkpoints of single tools.";
  const { prunedTotal, storedBytes = 0 } = estimate;
  if (prunedTotal === 0) return "There is nothing to drop now.";
  return `Would drop ${quantity(prunedTotal, "checkpoint")} and free about ${size(storedBytes)}.`;
}

/** The card; where `version` changes, what could be freed is counted again. */
export function MakeRoom(props: { readonly version: string; onChanged(): void }): ReactNode {
  const { version, onChanged } = props;
  const { free, bringBack, prune, preview } = useMakingRoom(onChanged);
  const estimates = useEstimates(version);
  const toast = useToast();
  const [dialog, setDialog] = useState<"forget" | Preview>();
  const close = () => setDialog(undefined);
  return (
    <section className="b-card b-in" aria-label="Make room">
      <h2>Make room</h2>
      <Way
        words="Free what nothing needs"
        about="Removes no checkpoint."
        button={estimates.free === 0 ? "Free" : `Free ${size(estimates.free)}`}
        onPress={free}
      />
      <Way
        words="Prune by the policy"
        about={`${pruneWords(estimates.prune)} Yours, named, tagged and approved ones stay. For 24 hours you can bring them back.`}
        button="Preview…"
        onPress={() =>
          void preview().then(setDialog, (error: unknown) =>
            toast({ text: (error as Error).message, isFailure: true }),
          )
        }
      />
      <Way
        words="Bring back"
        about="What was pruned or deleted within the last 24 hours."
        button="Bring back"
        onPress={bringBack}
      />
      <Way
        words="Forget a file"
        about="Removes its content for good, everywhere. For secrets. This is the one thing Belay cannot undo."
        button="Forget…"
        isFinal
        onPress={() => setDialog("forget")}
      />
      {dialog === "forget" ? (
        <ForgetDialog
          onClose={close}
          onDone={() => {
            close();
            onChanged();
          }}
        />
      ) : dialog === undefined ? null : (
        <PruneDialog
          {...dialog}
          onClose={close}
          onPrune={() => {
            close();
            prune();
          }}
        />
      )}
    </section>
  );
}

function Way(props: {
  readonly words: string;
  readonly about: string;
  readonly button: string;
  /** It cannot be taken back. */
  readonly isFinal?: boolean;
  onPress(): void;
}): ReactNode {
  const act = useAct();
  return (
    <div className="b-way">
      <span className={props.isFinal ? "b-strong b-bad" : "b-strong"}>{props.words}</span>
      <button type="button" className={props.isFinal ? "b-btn b-bad" : "b-btn"} {...act(props.onPress)}>
        {props.button}
      </button>
      <p className="b-small b-muted">{props.about}</p>
    </div>
  );
}

function PruneDialog(props: Preview & { onClose(): void; onPrune(): void }): ReactNode {
  const { drops, kept, first } = props;
  return (
    <Dialog
      title="Prune by the policy"
      about={
        drops === 0
          ? "There is nothing to drop."
          : `${quantity(drops, "checkpoint")} would be dropped, ${kept.toLocaleString("en")} stay. For 24 hours you can bring them back.`
      }
      isSmall
      isDangerous
      onClose={props.onClose}
      {...(drops > 0 && { onConfirm: props.onPrune })}
    >
      {drops === 0 ? null : (
        <ul className="b-plain-list" aria-label="Checkpoints to drop">
          {first.map(({ id, words }) => (
            <li key={id} className="b-cut">
              {visible(words)}
            </li>
          ))}
          {drops > first.length ? <li className="b-muted">{WORDS.more(drops - first.length)}</li> : null}
        </ul>
      )}
      <footer className="b-dialog-foot">
        <span className="b-grow" />
        <button type="button" className="b-btn" data-first onClick={props.onClose}>
          Cancel <kbd>Esc</kbd>
        </button>
        {drops === 0 ? null : (
          <button type="button" className="b-btn b-danger" onClick={props.onPrune}>
            Drop {quantity(drops, "checkpoint")} <kbd>Ctrl ⏎</kbd>
          </button>
        )}
      </footer>
    </Dialog>
  );
}
