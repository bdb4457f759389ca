/** Where a text or a file was in any checkpoint: the stretches, what brought it, what took it out. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { displayPath, type Findings, type FindOptions, type FoundFile } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const MIB = 1024 * 1024;
const stretches = ({ spans }: FoundFile) => spans.map(({ first, last }) => [first.seq, last.seq]);
const byPath = ({ files }: Findings) =>
  Object.fromEntries(files.map((file) => [displayPath(file.path), stretches(file)]));
const find = async ({ workspace }: TempWorkspace, options: FindOptions) =>
  byPath(await workspace.find(options));

describe("[R244] a text in any checkpoint", () => {
  test(
    "its stretches, newest first, what brought it and what took it out, and the lines",
    inWorkspace({ "a.ts": "one\n", "b.ts": "needle\n" }, async (temp) => {
      const thread = await temp.openThread("claude-code");
      await temp.turn("bring it", () => temp.write("a.ts", "one\n  the needle;\n"), thread);
      await temp.turn("take it out", () => temp.write("a.ts", "one\n"), thread);
      temp.write("a.ts", "needle by hand\n");
      await temp.workspace.checkpoint();
      const { files, total, checkpoints, unreadable } = await temp.workspace.find({ text: "needle" });
      expect({ total, checkpoints, unreadable }).toEqual({ total: 2, checkpoints: 6, unreadable: 0 });
      const [a, b] = files;
      expect(displayPath(a!.path)).toBe("a.ts");
      expect(a).toMatchObject({
        onDisk: true,
        spans: [
          { gone: null, since: { ref: null, title: "Changed by hand" }, lines: ["needle by hand"] },
          {
            since: { ref: "T1", title: "bring it", agent: "claude-code" },
            gone: { how: "changed", by: { ref: "T2", title: "take it out" } },
            lines: ["  the needle;"],
            lineNumbers: [2],
          },
        ],
      });
      expect(b).toMatchObject({ onDisk: true, spans: [{ since: null, gone: null, first: { seq: 1 } }] });
    }),
  );

  test(
    "after a deletion, an undo and a rule: what became of it is named for what it is",
    inWorkspace({ deleted: "needle\n", ignored: "needle\n", secret: "needle\n" }, async (temp) => {
      const { workspace } = temp;
      await temp.turn("make", () => temp.write("made", "needle\n"));
      await workspace.undo();
      temp.remove("deleted");
      temp.write(".belayignore", "ignored\n");
      await workspace.checkpoint();
      await workspace.upkeep.forget("./secret", { always: true });
      await workspace.checkpoint();
      const { files } = await workspace.find({ text: "needle" });
      const how = Object.fromEntries(files.map(({ path, spans }) => [path, spans[0]!.gone]));
      expect(how["deleted"]).toMatchObject({ how: "deleted" });
      expect(how["ignored"]).toMatchObject({ how: "left-out" });
      expect(how["made"]).toMatchObject({ how: "deleted", by: { title: "Undid: make" } });
      expect(how).not.toHaveProperty("secret");
      expect(files.filter(({ onDisk }) => onDisk).map(({ path }) => path)).toEqual(["ignored"]);
    }),
  );

  test(
    "in a file of several MiB, across the borders of its pieces, and in binary files",
    inWorkspace({}, async (temp) => {
      const { workspace } = temp;
      const at = (place: number, text = "needle") => {
        const bytes = Buffer.alloc(3 * MIB, "x");
        bytes.write(text, place);
        return bytes;
      };
      writeFileSync(join(temp.root, "across"), at(MIB - 3));
      writeFileSync(join(temp.root, "within"), at(2 * MIB + 5));
      writeFileSync(join(temp.root, "without"), at(MIB - 3, "need__"));
      writeFileSync(join(temp.root, "binary"), Buffer.from("\0\0needle\0"));
      writeFileSync(join(temp.root, "lines"), at(MIB - 5, "\nneedle\n"));
      await workspace.checkpoint();
      const found = await workspace.find({ text: "needle" });
      expect(Object.keys(byPath(found)).sort()).toEqual(["across", "binary", "lines", "within"]);
      expect(found.files.find(({ path }) => path === "binary")!.spans[0]).toMatchObject({
        binary: true,
        lines: [],
      });
      // a pattern is not tried on binary files, nor on lines that no person wrote
      expect(Object.keys(await find(temp, { pattern: /^needle$/ }))).toEqual(["lines"]);
    }),
  );

  test(
    "two texts that only lie next to each other in the store are not one",
    inWorkspace({}, async (temp) => {
      for (const half of ["nee", "dle"])
        for (let i = 0; i < 30; i += 1)
          temp.write(`${half}${i}`, `${half === "nee" ? i : ""}${half}${half === "nee" ? "" : i}`);
      await temp.workspace.checkpoint();
      expect(await find(temp, { text: "needle" })).toEqual({});
    }),
  );

  test(
    "below paths, of files by name, in upper and lower case, at most so many",
    inWorkspace(
      { "src/a.ts": "Needle\n", "src/b.js": "needle\n", "doc/a.ts": "needle\n", "größe.txt": "needle ü\n" },
      async (temp) => {
        const names = async (options: FindOptions) => Object.keys(await find(temp, options)).sort();
        expect(await names({ text: "needle", paths: ["src"] })).toEqual(["src/b.js"]);
        expect(await names({ text: "needle", paths: ["src"], ignoreCase: true })).toEqual([
          "src/a.ts",
          "src/b.js",
        ]);
        expect(await names({ text: "needle", files: "*.ts" })).toEqual(["doc/a.ts"]);
        expect(await names({ pattern: /^n.*E$/, ignoreCase: true, files: "src/**" })).toEqual([
          "src/a.ts",
          "src/b.js",
        ]);
        expect(await names({ text: "ü", files: "gr*.txt" })).toEqual(["größe.txt"]);
        const two = await temp.workspace.find({ text: "eedle", limit: 2 });
        expect([two.files.length, two.total]).toEqual([2, 4]);
        await expect(temp.workspace.find({ text: "x", paths: ["../out"] })).rejects.toThrow(
          /not a path inside/,
        );
      },
    ),
  );

  test(
    "a pattern is tried line by line, and one that would never end is stopped",
    inWorkspace({ x: `one\ntwo\n${"a".repeat(60)}!\n` }, async (temp) => {
      expect(await find(temp, { pattern: /one\s+two/ })).toEqual({});
      expect(Object.keys(await find(temp, { pattern: /^two$/ }))).toEqual(["x"]);
      const slow = temp.workspace.find({ pattern: /^(?:a|aa)+$/, patternLimitMs: 200 });
      await expect(slow).rejects.toMatchObject({ code: "PATTERN_TOO_SLOW" });
    }),
  );

  test(
    "what another process records in the middle of a search is looked at too",
    inWorkspace({ a: "needle one\n" }, async (temp) => {
      const record = () => {
        temp.write("b", "needle two\n");
        const engine = import.meta.resolve("../src/index.ts");
        const script = `import { findWorkspace } from ${JSON.stringify(engine)};
          await using workspace = await findWorkspace(process.argv[1], { home: process.argv[2] });
          await workspace.checkpoint();`;
        const words = ["--input-type=module", "-e", script, temp.root, temp.home];
        execFileSync(process.execPath, words, { stdio: "pipe" });
      };
      let recorded = 0;
      const progress = () => (recorded += 1) === 1 && record();
      const found = await temp.workspace.find({ text: "needle", progress });
      expect(recorded).toBeGreaterThan(1);
      expect(found).toMatchObject({ total: 2, checkpoints: 2, unreadable: 0 });
      expect(byPath(found)).toEqual({ b: [[2, 2]], a: [[1, 2]] });
    }),
  );

  test(
    "what is damaged is counted, and everything else is still found",
    inWorkspace({ a: "needle one\n" }, async (temp) => {
      const { workspace } = temp;
      temp.write("b", "needle two\n");
      await workspace.checkpoint();
      using store = new DatabaseSync(join(workspace.store, "store.db"));
      const { id, data } = store.prepare("SELECT id, data FROM pack ORDER BY id DESC LIMIT 1").get() as {
        id: number;
        data: Uint8Array;
      };
      store.prepare("UPDATE pack SET data = zeroblob(10) WHERE id = ?").run(id);
      await temp.reopen();
      const found = await temp.workspace.find({ text: "needle" });
      expect(found.unreadable).toBeGreaterThan(0);
      expect(byPath(found)).toEqual({ a: [[1, 1]] });
      store.prepare("UPDATE pack SET data = ? WHERE id = ?").run(data, id);
      await temp.reopen();
    }),
  );
});

describe("[R244] a file in any checkpoint", () => {
  test(
    "when it was last there, by its name, a pattern or its path; also after gc of what was pruned",
    inWorkspace({ "src/old.ts": "1\n", "src/new.ts": "2\n" }, async (temp) => {
      const { workspace } = temp;
      await temp.turn("drop it", () => temp.remove("src/old.ts"));
      await workspace.checkpoint();
      for (const options of [{ files: "old.ts" }, { files: "src/o*" }, { files: "/src/old.ts" }])
        expect(await find(temp, options)).toEqual({ "src/old.ts": [[1, 2]] });
      const [{ onDisk, spans }] = (await workspace.find({ files: "old.ts" })).files as [FoundFile];
      expect(onDisk).toBe(false);
      expect(spans[0]!.gone).toMatchObject({ how: "deleted", by: { ref: "T1", title: "drop it" } });
      expect(await find(temp, { files: "*.ts", paths: ["src/new.ts"] })).toEqual({ "src/new.ts": [[1, 4]] });
      expect(await find(temp, { files: "never" })).toEqual({});
      await workspace.upkeep.deleteCheckpoint("3");
      temp.passHours(25);
      await workspace.upkeep.gc();
      const [left] = (await workspace.find({ files: "old.ts" })).files;
      expect(stretches(left!)).toEqual([[1, 2]]);
      expect(left!.spans[0]!.gone).toMatchObject({ seq: 4, how: "deleted", by: null });
    }),
  );
});

describe("[R1970] when did this line exist", () => {
  test(
    "each matching line by itself: its checkpoints, who brought it and who took it out",
    inWorkspace({ "a.ts": "old needle\n" }, async (temp) => {
      const { workspace } = temp;
      const thread = await temp.openThread("claude-code");
      const turn = async (messageId: string, text: string, content: string) => {
        await workspace.turns.prompt(thread, { messageId, content: text });
        await workspace.turns.beginTool(thread, { toolUseId: messageId, tool: "Edit", paths: ["a.ts"] });
        temp.write("a.ts", content);
        await workspace.turns.endTool(thread, { toolUseId: messageId });
        await workspace.turns.end(thread);
      };
      await turn("m1", "bring another", "above\nold needle\nnew needle\n");
      await turn("m2", "take the old one out", "new needle\n");
      temp.write("a.ts", "new needle\nold needle\n");
      await workspace.checkpoint();
      const { lines } = await workspace.find({ text: "needle", history: true });
      const by = { thread, agent: "claude-code", tool: "Edit" };
      const hand = { ref: null, thread: null, agent: null, tool: null, messageId: null, prompt: null };
      const told = lines!.map(({ path, text, last, ...rest }) => ({
        line: `${displayPath(path)}: ${text}`,
        isThere: last === null,
        ...rest,
      }));
      expect(told).toMatchObject([
        {
          line: "a.ts: new needle",
          isThere: true,
          addedBy: { ...by, ref: "T1", title: "bring another", messageId: "m1", prompt: "bring another" },
          removedBy: null,
        },
        { line: "a.ts: old needle", isThere: true, addedBy: hand, removedBy: null },
        {
          line: "a.ts: old needle",
          isThere: false,
          first: { seq: 1 },
          addedBy: null,
          removedBy: { ...by, ref: "T2", messageId: "m2", prompt: "take the old one out" },
        },
      ]);
      expect(await workspace.find({ text: "needle" })).not.toHaveProperty("lines");
    }),
  );
});
