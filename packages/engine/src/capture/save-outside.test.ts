import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inLab } from "../../test/support/capture-lab.ts";
import { readOutside } from "../history/outside-files.ts";
import { collectGarbage } from "../upkeep/gc.ts";
import { withSavedOutside } from "./save-outside.ts";

test(
  "[R3] [N0] content that gc freed between the look and the record is not recorded, not called saved, and told of",
  inLab({ a: "1" }, (lab) => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "belay-saved-")));
    try {
      const path = join(base, "x");
      writeFileSync(path, "the only copy");
      const { seq } = lab.take().checkpoint;
      const other = lab.openContext();
      // in the store already, and needed by no checkpoint: no lease keeps it
      withSavedOutside(lab.context, [path], () => undefined);
      const request = { dropPrunedBefore: 0, dryRun: false };
      const [recorded, warnings] = withSavedOutside(lab.context, [path], (saved) => {
        collectGarbage(other.store, other.system, request);
        return [saved.record(seq), saved.warnings];
      });
      expect(recorded).toEqual([]);
      expect(warnings).toEqual([
        `${path} is outside the workspace and not captured: the store freed its content meanwhile.`,
      ]);
      expect(readOutside(lab.store.db, seq)).toEqual([]);
      expect(withSavedOutside(lab.context, [path], (saved) => saved.record(seq))).toMatchObject([{ path }]);
      collectGarbage(other.store, other.system, request);
    } finally {
      rmSync(base, { recursive: true });
    }
  }),
);
