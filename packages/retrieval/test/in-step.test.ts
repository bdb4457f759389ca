/** The index follows every way back: exactly the files it touched, and nothing is embedded twice. */
import type { ThreadId } from "@belay/engine";
import { expect, test } from "vitest";
import { keepInStep, openIndex } from "../src/index.ts";
import { countingEmbedder, inProject, type Project } from "./support/project.ts";

const FILES = {
  "src/parser.ts": "export function parseHeader(text: string) {\n  return text.trim();\n}\n",
  "src/writer.ts": "export function writeFooter() {}\n",
  "docs/guide.md": "# Guide\n\nHow the parser works.\n",
};

function hashes(index: { files(): { path: string; hash: string }[] }): Record<string, string> {
  return Object.fromEntries(index.files().map(({ path, hash }) => [path, hash]));
}

async function turn({ workspace }: Project, prompt: string, work: () => void): Promise<ThreadId> {
  const { id } = await workspace.threads.open({ agent: "test", externalId: "one" });
  await workspace.turns.prompt(id, { content: prompt });
  work();
  await workspace.turns.end(id);
  return id;
}

test(
  "[A22, A52, R430] restore, undo, redo and reset look again at exactly their files, and embed nothing that was seen",
  inProject(FILES, async (project) => {
    const { workspace, write, remove } = project;
    const embedder = countingEmbedder();
    await using index = await openIndex(workspace, { embedder, scope: "all" });
    keepInStep(workspace, index);
    await index.sync();
    const first = hashes(index);
    const thread = await turn(project, "change", () => {
      write("src/parser.ts", "export function tokenizeBody() {}\n");
      write("src/new.ts", "export const brandNew = 1;\n");
      remove("docs/guide.md");
    });
    await index.sync();
    const second = hashes(index);
    expect(Object.keys(second)).toEqual(["src/new.ts", "src/parser.ts", "src/writer.ts"]);
    const { texts } = embedder;
    const found = async (word: string) =>
      (await index.search(word, { mode: "text" })).hits.map(({ path }) => path);
    for (const [way, wanted] of [
      [() => workspace.undo(), first],
      [() => workspace.redo(), second],
      [() => workspace.restoreTo("1"), first],
      [() => workspace.undo(), second],
      [() => workspace.approvals.reset(thread), first],
    ] as const) {
      await way();
      await index.idle();
      expect(hashes(index)).toEqual(wanted);
      expect(await found("tokenizeBody")).toEqual(wanted === first ? [] : ["src/parser.ts"]);
      expect(await found("guide")).toEqual(wanted === first ? ["docs/guide.md"] : []);
    }
    expect(embedder.texts).toBe(texts);
  }),
);

test(
  "[A17] approving touches no row",
  inProject(FILES, async (project) => {
    const { workspace, write } = project;
    await using index = await openIndex(workspace, { scope: "all" });
    keepInStep(workspace, index);
    const thread = await turn(project, "change", () => write("src/writer.ts", "export const w = 2;\n"));
    await index.sync();
    const before = index.files();
    await workspace.approvals.approve(thread);
    await index.idle();
    expect(index.files()).toEqual(before);
    expect(await index.sync()).toMatchObject({ reindexed: 0, removed: 0 });
    expect(index.files()).toEqual(before);
  }),
);

test(
  "[A55] of touched files only, what is not in the index stays out of it",
  inProject(FILES, async (project) => {
    const { workspace, write } = project;
    await using index = await openIndex(workspace, { scope: "touched" });
    keepInStep(workspace, index);
    await index.sync();
    expect(index.files()).toEqual([]);
    await index.indexFile("src/parser.ts");
    await turn(project, "change", () => {
      write("src/parser.ts", "export const other = 1;\n");
      write("src/writer.ts", "export const other = 2;\n");
    });
    await workspace.undo();
    await index.idle();
    expect(index.files()).toMatchObject([{ path: "src/parser.ts" }]);
    expect((await index.search("parseHeader")).hits).toMatchObject([{ path: "src/parser.ts", startLine: 1 }]);
  }),
);

test(
  "[R430] no answer has text that is not on disk: a changed file is indexed first, a deleted one is not found",
  inProject(FILES, async ({ workspace, write, remove }) => {
    await using index = await openIndex(workspace, { scope: "all" });
    await index.sync();
    write("src/parser.ts", "// a new line above\nexport function parseHeader() {}\n");
    const { hits } = await index.search("parseHeader", { k: 1 });
    expect(hits).toMatchObject([
      { path: "src/parser.ts", text: expect.stringContaining("a new line above") },
    ]);
    remove("src/parser.ts");
    expect((await index.search("parseHeader", { mode: "text" })).hits).toEqual([]);
    expect(index.files().map(({ path }) => path)).not.toContain("src/parser.ts");
  }),
);
