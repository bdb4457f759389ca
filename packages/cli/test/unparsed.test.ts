/** Undo, redo, revert and reset where a merge by lines is clean and the text that it makes is broken. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

/** The closing brace stands after this line; the agent opens it, and someone may close it earlier. */
const code = ({ opened = false, closedAfter = "" } = {}) =>
  [
    "export function all() {",
    ...(opened ? ["  if (ready) {"] : []),
    ...["one", "two", "three", "four", "five"].flatMap((name) => [
      `  ${name}();`,
      ...(name === closedAfter ? ["  }"] : []),
    ]),
    "}",
    "",
  ].join("\n");

const BEFORE = code();
const AGENTS = code({ opened: true, closedAfter: "five" });
const BY_HAND = code({ opened: true, closedAfter: "three" });
const MERGED = code({ closedAfter: "three" });

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await Sandbox.protected({ "all.ts": BEFORE, "other.txt": "1\n", "all.txt": BEFORE });
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

/** What an agent does, as a turn. */
function turn(files: Record<string, string>): void {
  const script = Object.entries(files).map(([name, text]) => `printf '%s' '${text}' > ${name}`);
  sandbox.ok("run", "--agent", "tester", "--", "sh", "-c", script.join("; "));
}

const REASON = "the merge would not parse";

test("[R1910] undo refuses a merge that does not parse though both sides do, with the ways out", () => {
  turn({ "all.ts": AGENTS, "other.txt": "2\n" });
  sandbox.write("all.ts", BY_HAND);
  expect(sandbox.json(["undo", "--dry-run"], 3)).toMatchObject({
    plan: { conflicts: [{ path: "all.ts", reason: REASON, ours: { kind: "file" } }] },
  });
  const refused = sandbox.belay(["undo", "--yes"]);
  expect(refused.status).toBe(3);
  expect(refused.stdout).toContain(`all.ts:2  ${REASON}`);
  expect(refused.stdout).toContain("`belay undo --merge-anyway` merges them anyway, for you to repair.");
  expect(refused.stdout).toContain("`belay undo --best-effort` does the rest");
  expect(refused.stdout).toMatch(/`belay restore [k-z]{8} all\.ts` takes the wanted version/);
  expect([sandbox.read("all.ts"), sandbox.read("other.txt")]).toEqual([BY_HAND, "2\n"]);
});

test("[R1910] --merge-anyway takes it, as an undo like any other; --best-effort leaves the file out", () => {
  turn({ "all.ts": AGENTS, "other.txt": "2\n" });
  sandbox.write("all.ts", BY_HAND);
  expect(sandbox.json(["undo", "--yes", "--merge-anyway"])).toMatchObject({
    outcome: "applied",
    canRedo: true,
  });
  expect([sandbox.read("all.ts"), sandbox.read("other.txt")]).toEqual([MERGED, "1\n"]);
  sandbox.write("all.ts", BEFORE);
  expect(sandbox.json(["redo", "--yes"])).toMatchObject({ outcome: "applied" });
  expect([sandbox.read("all.ts"), sandbox.read("other.txt")]).toEqual([AGENTS, "2\n"]);
  sandbox.write("all.ts", BY_HAND);
  expect(sandbox.belay(["undo", "--yes", "--best-effort"]).status).toBe(3);
  expect([sandbox.read("all.ts"), sandbox.read("other.txt")]).toEqual([BY_HAND, "1\n"]);
});

test("[R1910] revert refuses it too, and takes what is chosen of other files", () => {
  turn({ "all.ts": AGENTS, "other.txt": "2\n" });
  sandbox.write("all.ts", BY_HAND);
  expect(sandbox.belay(["revert", "T1", "--yes"]).stdout).toContain(REASON);
  sandbox.ok("revert", "T1", "other.txt", "--yes");
  expect([sandbox.read("all.ts"), sandbox.read("other.txt")]).toEqual([BY_HAND, "1\n"]);
  sandbox.ok("revert", "T1", "all.ts", "--yes", "--merge-anyway");
  expect(sandbox.read("all.ts")).toBe(MERGED);
});

test("[R1910] what did not parse before, and languages without a parser, are merged by lines as ever", () => {
  turn({ "all.ts": AGENTS, "all.txt": AGENTS });
  sandbox.write("all.ts", `let = 1;\n${BY_HAND}`);
  sandbox.write("all.txt", BY_HAND);
  expect(sandbox.json(["undo", "--yes"])).toMatchObject({ outcome: "applied" });
  expect([sandbox.read("all.ts"), sandbox.read("all.txt")]).toEqual([`let = 1;\n${MERGED}`, MERGED]);
});

test("[R1910] only the end counts: a text that is broken in the middle of two steps is undone", () => {
  const noted = (text: string) => text.replace("  three();\n", "  three();\n  /* note */\n");
  const out = BEFORE.replace("  one();\n", "  /*\n  one();\n").replace("  five();\n", "  five();\n  */\n");
  sandbox.write("all.ts", `// old\n\n${BEFORE}`);
  turn({ "all.ts": `// new\n\n${out}` });
  turn({ "all.ts": `// new\n\n${BEFORE}` });
  sandbox.write("all.ts", `// new\n\n${noted(BEFORE)}`);
  expect(sandbox.json(["undo", "--dry-run"], 3)).toMatchObject({ plan: { conflicts: [{ reason: REASON }] } });
  expect(sandbox.json(["undo", "2", "--yes"])).toMatchObject({ outcome: "applied" });
  expect(sandbox.read("all.ts")).toBe(`// old\n\n${noted(BEFORE)}`);
});

test("[R1910] reset has the same conflict and the same way past it", () => {
  const agent = (name: string, text: string) =>
    sandbox.ok("run", "--agent", name, "--", "sh", "-c", `printf '%s' '${text}' > all.ts`);
  agent("first", AGENTS);
  agent("second", BY_HAND);
  const threads = sandbox.json(["threads"]) as { threads: { id: string; agent: string }[] };
  const { id } = threads.threads.find(({ agent: name }) => name === "first")!;
  const refused = sandbox.belay(["reset", "--thread", id, "--yes"]);
  expect([refused.status, refused.stdout]).toEqual([3, expect.stringContaining(REASON)]);
  expect(sandbox.read("all.ts")).toBe(BY_HAND);
  sandbox.ok("reset", "--thread", id, "--yes", "--merge-anyway");
  expect(sandbox.read("all.ts")).toBe(MERGED);
});
