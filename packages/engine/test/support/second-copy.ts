/** A second working copy of a workspace: its own directory, on a branch of its own, with the same store. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { absolutePath } from "../../src/fs/absolute-path.ts";
import { openRegistry, rootIdentity } from "../../src/store/registry.ts";
import { openWorkspace } from "../../src/index.ts";
import { copyTree } from "./copy-tree.ts";

/** Makes one of the files as they are, called `name`; `root` must not exist yet. Gives the id of the checkpoint it began with. */
export async function makeSecondCopy(
  original: { readonly root: string; readonly home: string },
  { root, name }: { readonly root: string; readonly name: string },
): Promise<string> {
  await using workspace = await openWorkspace(original.root, { home: original.home });
  const { checkpoint } = await workspace.checkpoint({ kind: "safety", description: `Before fork ${name}` });
  mkdirSync(root);
  copyTree(original.root, root);
  const path = absolutePath(root);
  const identity = rootIdentity(path)!;
  using db = new DatabaseSync(join(workspace.store, "store.db"));
  const { lastInsertRowid: branch } = db
    .prepare(
      `INSERT INTO branch (name, parent, base, head, state, created_at)
         SELECT ?, branch, seq, seq, 'open', created_at FROM checkpoint WHERE seq = ?`,
    )
    .run(name, checkpoint.seq);
  const { lastInsertRowid } = db
    .prepare(
      "INSERT INTO working_copy (root, dev, ino, birth, branch, state, created_at) VALUES (?, ?, ?, ?, ?, 'ready', 0)",
    )
    .run(Buffer.from(path, "latin1"), identity.dev, identity.ino, identity.birth, branch);
  const workingCopy = Number(lastInsertRowid);
  using registry = openRegistry(absolutePath(original.home), undefined);
  const registered = registry.byPath(absolutePath(original.root))!;
  registry.addFork({ ...registered, ...identity, path, workingCopy });
  return checkpoint.id;
}
