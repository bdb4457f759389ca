/** The parts with plain data: a host without Belay's server can use them too. */
import { CheckpointBadge, FileTree, PatchLines, RestoreDialog, type ChangedFile } from "@belay/react";
import { useState, type ReactNode } from "react";

const FILES = ["a", "b", "c", "d", "e", "f", "g"].map((name) => ({ path: `src/${name}.ts` }));
const CHANGED: ChangedFile[] = FILES.map(({ path }) => ({
  path,
  type: "modified",
  linesAdded: 1,
  linesDeleted: 1,
  binary: false,
  tooLarge: false,
  attribution: null,
}));
const CHECKPOINT = {
  id: "one",
  messageId: "m1",
  createdAt: "2026-11-17T10:42:00Z",
  fileCount: 12,
  totalBytes: 1,
  hasChanges: true,
  files: FILES,
};
const PATCH = "@@ -1,1 +1,1 @@\n-export const a = 1;\n+export const a = 2;\n";

/** A badge, its question, files and a patch. */
export function Plain(): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const [said, setSaid] = useState("nothing");
  const answer = (words: string) => () => {
    setAsking(false);
    setSaid(words);
  };
  return (
    <div className="host-column">
      <CheckpointBadge messageId="m1" onRestore={() => setAsking(true)} />
      <CheckpointBadge messageId="m2" isRestoring onRestore={() => setSaid("restored twice")} />
      <CheckpointBadge messageId="m3" hasChanges={false} onRestore={() => setSaid("not there")} />
      <p>Answered: {said}</p>
      <FileTree files={CHANGED} onSelect={({ path }) => setSaid(path)} />
      <PatchLines path="src/a.ts" patch={PATCH} />
      {isAsking ? (
        <RestoreDialog checkpoint={CHECKPOINT} onConfirm={answer("restore")} onCancel={answer("cancel")} />
      ) : null}
    </div>
  );
}
