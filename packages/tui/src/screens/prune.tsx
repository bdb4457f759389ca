/** Prune: what the policy would drop, and the question. */
import { useEffect, useState, type ReactNode } from "react";
import { useSource } from "../data/source.tsx";
import { Lines, useFrame, useKeys } from "../frame/frame.tsx";
import { box, line } from "../frame/line.ts";
import { refusalOf } from "../plans/plan.ts";
import { count, grouped } from "../text/quantity.ts";
import { visibleLine } from "../text/visible.ts";
import { wrap } from "../text/wrap.ts";
import { COMMANDS, MENU_WORDS } from "../words.ts";

const WIDTH = 64;

/** Asks before checkpoints are dropped, and drops them. */
export function PruneScreen(): ReactNode {
  const frame = useFrame();
  const source = useSource();
  const [preview, setPreview] = useState<{ pruned: number; kept: number }>();
  const [problem, setProblem] = useState<string>();
  const query = { workspace: source.place.workspace };
  const fail = (error: unknown) => setProblem(refusalOf(error).message);
  useEffect(() => {
    const asked = source.call("POST /api/prune", {
      query: { workspace: source.place.workspace },
      body: { dryRun: true },
    });
    asked.then(({ pruned, kept }) => setPreview({ pruned: pruned.length, kept }), fail);
  }, [source]);
  const isWorthAsking = preview !== undefined && preview.pruned > 0;
  const prune = async () => {
    try {
      const { pruned, kept } = await source.call("POST /api/prune", { query, body: {} });
      frame.say([line(`  ${frame.signs.done} ${COMMANDS.pruned(count(pruned.length, "checkpoint"), kept)}`)]);
      frame.close();
    } catch (error) {
      fail(error);
    }
  };
  useKeys([
    ...(isWorthAsking ? [{ keys: ["y"], run: () => void prune() }] : []),
    { keys: ["esc"], run: () => frame.close() },
  ]);
  const { columns, signs } = frame;
  const width = Math.min(WIDTH, columns);
  const texts = isWorthAsking
    ? [
        MENU_WORDS.prune(count(preview.pruned, "checkpoint"), grouped(preview.kept)),
        "",
        MENU_WORDS.pruneBack,
        "",
        MENU_WORDS.pruneAnswers(count(preview.pruned, "checkpoint")),
      ]
    : [problem ?? waiting(preview?.kept), "", MENU_WORDS.close];
  const lines = texts.flatMap((text) => wrap(visibleLine(text), width - 4).split("\n"));
  return (
    <Lines
      lines={box(
        lines.map((text) => line(text)),
        { width, signs },
      )}
    />
  );
}

function waiting(kept: number | undefined): string {
  return kept === undefined ? MENU_WORDS.pruning : COMMANDS.nothingToPrune(count(kept, "checkpoint"));
}
