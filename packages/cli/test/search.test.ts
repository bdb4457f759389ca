import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.protected({
    "src/client.ts": "const retryBudget = 3;\n",
    "notes.md": "hello\n",
  });
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

describe("words", () => {
  test("[Y27] [R1606] all of them have to be found, each in a name, note, tag, prompt or path", async () => {
    await sandbox.checkpoint({ name: "before the parser", note: "ropes and knots", tags: ["stable"] });
    sandbox.write("src/parser.ts", "x\n");
    await sandbox.checkpoint();
    sandbox.ok("run", "--", "sh", "-c", "echo prompted > made.txt");
    const found = (...words: string[]): number[] =>
      sandbox.json(["search", ...words]).checkpoints.map(({ seq }: { seq: number }) => seq);
    expect(found("parser")).toEqual([3, 2]);
    expect(found("parser", "KNOTS")).toEqual([2]);
    expect(found("the parser")).toEqual([2]);
    expect(found("parser the")).toEqual([]);
    expect(found("stable")).toEqual([2]);
    expect(found("echo prompted").length).toBeGreaterThan(0);
    expect(found("src/parser.ts")).toEqual([3]);
    // [R1606] fields belong to what happened: the same rows as those of the log
    expect(sandbox.json(["search", "prompted", "agent:sh"]).rows).toMatchObject([
      { kind: "turn", agent: "sh" },
    ]);
    expect(sandbox.json(["search", "agent:sh file:made.txt"]).rows).toHaveLength(1);
    expect(sandbox.json(["search", "agent:codex"]).rows).toEqual([]);
    expect(sandbox.ok("search", "tag:stable")).toBe(sandbox.ok("log", "tag:stable"));
    expect(sandbox.ok("search", "nothing-like-it")).toContain("`belay search -S <text>` looks into files");
    for (const args of [["search"], ["search", " "], ["search", "x", "-i"]])
      expect(sandbox.error(args, 2).code).toBe("USAGE");
  });
});

describe("contents", () => {
  beforeEach(() => {
    sandbox.ok("run", "--agent", "codex", "--", "sh", "-c", "echo 'retryBudget = 9' > src/budget.ts");
    sandbox.ok("run", "--agent", "codex", "--", "rm", "src/budget.ts");
  });

  test("[R244] -S names each file, its checkpoints, the turns, and the command that brings it back", () => {
    const said = sandbox.ok("search", "-S", "retryBudget");
    expect(said).toMatch(
      /^src\/client\.ts\n +1 {2}const retryBudget = 3;\n {2}there now, since checkpoint 1, /,
    );
    expect(said).toMatch(/src\/budget\.ts\n +1 {2}retryBudget = 9\n {2}in checkpoints 3 to 4, until /);
    expect(said).toMatch(
      / {2}came with T1 \(codex\) “.*src\/budget\.ts.*”\n {2}deleted by T2 \(codex\) “rm /,
    );
    const command = /→ (belay restore .*)/.exec(said)![1]!;
    expect(command).toBe("belay restore 4 src/budget.ts");
    sandbox.ok(...command.split(" ").slice(1), "--yes");
    expect(sandbox.read("src/budget.ts")).toBe("retryBudget = 9\n");
    sandbox.write("src/client.ts", "something else\n");
    sandbox.ok("checkpoint");
    const changed = sandbox.ok("search", "-S", "retryBudget = 3");
    expect(changed).toMatch(
      /taken out by hand\n {2}→ belay cat \d+ src\/client\.ts\n {2}→ belay restore \d+ /,
    );
    const look = /→ (belay cat .*)/.exec(changed)![1]!;
    expect(sandbox.ok(...look.split(" ").slice(1))).toBe("const retryBudget = 3;\n");
  });

  test("[R244] the command works where the shell is, and JSON has the same facts", () => {
    const found = sandbox.json(["search", "-G", "retry\\w+ = 9$", "."], 0, { cwd: sandbox.path("src") });
    expect(found).toMatchObject({
      filesTotal: 1,
      unreadable: 0,
      files: [
        {
          path: "src/budget.ts",
          onDisk: false,
          spans: [
            {
              first: { seq: 3 },
              last: { seq: 4 },
              since: { ref: "T1", agent: "codex" },
              gone: { seq: 5, how: "deleted", by: { ref: "T2" } },
              lines: ["retryBudget = 9"],
              lineNumbers: [1],
              cat: "belay cat 4 budget.ts",
              restore: "belay restore 4 budget.ts",
            },
          ],
        },
      ],
    });
  });

  test("[R1786] --at searches one checkpoint, with the lines that it had", () => {
    sandbox.write("src/client.ts", "const retryBudget = 4;\n");
    sandbox.ok("checkpoint");
    const found = (at: string) => {
      const { files, checkpoints } = sandbox.json(["search", "-S", "retryBudget", "--at", at]);
      expect(checkpoints).toBe(1);
      return files.map(({ path, spans }: any) => [path, ...spans[0].lines]);
    };
    expect(found("1")).toEqual([["src/client.ts", "const retryBudget = 3;"]]);
    expect(found("4")).toEqual([
      ["src/budget.ts", "retryBudget = 9"],
      ["src/client.ts", "const retryBudget = 3;"],
    ]);
    expect(found("@")).toEqual([["src/client.ts", "const retryBudget = 4;"]]);
    expect(sandbox.ok("search", "--file", "budget.ts", "--at", "4")).toMatch(
      /^src\/budget\.ts\n {2}in checkpoint 4, .*\n {2}→ belay restore 4 src\/budget\.ts/,
    );
    expect(sandbox.error(["search", "words", "--at", "4"], 2).code).toBe("USAGE");
    expect(sandbox.error(["search", "-S", "x", "--at", "nowhere"], 4).code).toBe("CHECKPOINT_NOT_FOUND");
  });

  test("[R1970] --history tells when each line was there and whose it was; --content is -S", () => {
    sandbox.write("src/client.ts", "const retryBudget = 4;\n");
    sandbox.ok("checkpoint");
    const said = sandbox.ok("search", "--content", "retryBudget", "--history");
    expect(said).toMatch(
      /^src\/client\.ts\n {2}const retryBudget = 4;\n {4}since checkpoint 6, .*\n {4}came by hand\n/,
    );
    expect(said).toMatch(
      / {2}const retryBudget = 3;\n {4}in checkpoints 1 to 5, until .*\n {4}taken out by hand\n/,
    );
    expect(said).toMatch(
      /src\/budget\.ts\n {2}retryBudget = 9\n {4}in checkpoints 3 to 4, until .*\n {4}came with T1 \(codex\) “.*”\n {4}taken out by T2 \(codex\) “rm /,
    );
    const { spans } = sandbox.json(["search", "-S", "retryBudget", "--history", "src/budget.ts"]);
    const [{ id: first }] = sandbox
      .json(["list", "--all"])
      .checkpoints.filter(({ seq }: { seq: number }) => seq === 3);
    expect(spans).toMatchObject([
      { path: "src/budget.ts", text: "retryBudget = 9", first, firstSeq: 3, lastSeq: 4 },
    ]);
    expect(spans[0]).toMatchObject({ addedBy: { agent: "codex", ref: "T1" }, removedBy: { ref: "T2" } });
    for (const args of [["words"], ["--file", "*"], ["-S", "x", "--at", "1"]])
      expect(sandbox.error(["search", "--history", ...args], 2).code).toBe("USAGE");
    expect(sandbox.error(["search", "-S", "x", "--content", "x"], 2).code).toBe("USAGE");
  });

  test("[R244] --file says when a file was last there; limits are told", () => {
    const said = sandbox.ok("search", "--file", "*.ts");
    expect(said).toContain("src/client.ts\n  there now");
    expect(said).toContain("→ belay restore 4 src/budget.ts");
    const one = sandbox.belay(["search", "--file", "*", "--limit", "1"]);
    expect(one.stderr).toContain("… and 2 more files");
    expect(sandbox.ok("search", "-S", "never written")).toBe("Nothing found in 5 checkpoints.\n");
    expect(sandbox.ok("search", "-S", "retrybudget", "-i", "--file", "c*")).toContain("src/client.ts");
  });

  test("[R244] what cannot be searched for is a usage error", () => {
    for (const [args, says] of [
      [["-G", "("], /not a regular expression: Unterminated group/],
      [["-S", "x", "-G", "y"], /cannot be combined/],
      [["-S", ""], /needs something to look for/],
      [["-S", "x", "../outside"], /outside the workspace/],
    ] as const)
      expect(sandbox.error(["search", ...args], 2).message).toMatch(says);
  });

  test("Ctrl-C ends a search in the middle of an expression", async () => {
    sandbox.write("slow", `${"a".repeat(60)}!\n`);
    sandbox.ok("checkpoint");
    const child = spawn(process.execPath, [LAUNCHER, "search", "-G", "^(?:a|aa)+$"], {
      cwd: sandbox.project,
      env: sandbox.environment,
    });
    const ended = once(child, "exit");
    await pause(1500);
    child.kill("SIGINT");
    const [code, signal] = (await ended) as [number | null, string | null];
    expect(signal ?? code).toBe("SIGINT");
  });
});
