import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { takeOverClaude } from "./claude-take-over.ts";
import { dashedProjectName } from "./last-run.ts";

describe("a conversation of Claude Code from another machine", () => {
  test("[R767] is written where it looks for those of this directory, with its paths moved", () => {
    const user = mkdtempSync(join(tmpdir(), "belay-take-over-"));
    onTestFinished(() => rmSync(user, { recursive: true, force: true }));
    const lines = [
      {
        sessionId: "old",
        uuid: "a",
        cwd: "/srv/ana/work",
        message: { content: "look at /srv/ana/work/a.ts" },
      },
      { sessionId: "old", uuid: "b", parentUuid: "a", input: ["/srv/ana/work", "/srv/ana/workshop/b.ts"] },
      { type: "summary", summary: "kept" },
    ];
    const text = `${lines.map((line) => JSON.stringify(line)).join("\n")}\nnot json\n`;
    const cwd = "/srv/bob/it";
    const result = takeOverClaude({ text, from: "/srv/ana/work", cwd, user, environment: {} });
    if (result.outcome !== "forked") return expect.unreachable(result.outcome);
    expect(result.resume).toEqual(["claude", "--resume", result.session]);
    const directory = join(user, ".claude/projects", dashedProjectName(cwd));
    expect(readdirSync(directory)).toEqual([`${result.session}.jsonl`]);
    const path = join(directory, `${result.session}.jsonl`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const written = readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(written).toEqual([
      { sessionId: result.session, uuid: "a", cwd, message: { content: "look at /srv/bob/it/a.ts" } },
      { sessionId: result.session, uuid: "b", parentUuid: "a", input: [cwd, "/srv/ana/workshop/b.ts"] },
      { type: "summary", summary: "kept" },
    ]);
  });

  test("[R767] moves whole paths only: what lies below a directory of the same name elsewhere stays", () => {
    const user = mkdtempSync(join(tmpdir(), "belay-take-over-"));
    onTestFinished(() => rmSync(user, { recursive: true, force: true }));
    const moved = (content: string, from: string) => {
      const result = takeOverClaude({
        text: JSON.stringify({ sessionId: "old", content }),
        from,
        cwd: "/new",
        user,
        environment: {},
      });
      if (result.outcome !== "forked") return expect.unreachable(result.outcome);
      const path = join(user, ".claude/projects", dashedProjectName("/new"), `${result.session}.jsonl`);
      return (JSON.parse(readFileSync(path, "utf8")) as { content: string }).content;
    };
    expect(moved("src/app/page.tsx /mnt/app/x ./app 'cd /app' (/app/x) /app", "/app")).toBe(
      "src/app/page.tsx /mnt/app/x ./app 'cd /new' (/new/x) /new",
    );
    expect(moved("https://example.org/a b/c", "/")).toBe("https://example.org/a b/c");
  });

  test("without a line of a transcript is a new one", () => {
    const request = { text: "nothing\n", from: null, cwd: "/x", user: "/none", environment: {} };
    expect(takeOverClaude(request)).toEqual({ outcome: "empty", resume: ["claude"] });
  });
});
