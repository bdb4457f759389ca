/** A protected directory with an index, for tests. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openWorkspace, type Workspace } from "@belay/engine";
import { hashedEmbedder, type Embedder } from "../../src/index.ts";

export interface Project {
  readonly root: string;
  readonly home: string;
  readonly workspace: Workspace;
  write(path: string, content: string | Uint8Array): void;
  read(path: string): string;
  remove(path: string): void;
}

/** Runs a test in a protected directory with these files. */
export function inProject(
  files: Readonly<Record<string, string | Uint8Array>>,
  body: (project: Project) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const base = mkdtempSync(join(tmpdir(), "belay-retrieval-"));
    const [root, home] = [join(base, "root"), join(base, "home")];
    mkdirSync(root);
    const write = (path: string, content: string | Uint8Array) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    };
    try {
      for (const [path, content] of Object.entries(files)) write(path, content);
      await using workspace = await openWorkspace(root, { home });
      await body({
        root,
        home,
        workspace,
        write,
        read: (path) => readFileSync(join(root, path), "utf8"),
        remove: (path) => rmSync(join(root, path), { recursive: true }),
      });
      const { ok } = await workspace.upkeep.verify();
      if (!ok) throw new Error("the store is not sound");
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  };
}

/** The local embedder, counting the texts of documents that it is given. */
export function countingEmbedder(): Embedder & { texts: number } {
  const inner = hashedEmbedder();
  return {
    ...inner,
    texts: 0,
    embed(texts, as) {
      if (as === "document") this.texts += texts.length;
      return inner.embed(texts, as);
    },
  };
}
