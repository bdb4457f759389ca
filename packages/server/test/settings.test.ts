/** Settings written by another process reach the resident one before its next piece of work, there and back. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { served, type ServedProject } from "./support/served-project.ts";

/** What a setting does, seen from outside: `on` as long as it has its default. */
interface Case {
  readonly key: string;
  readonly value: string;
  effect(project: ServedProject): Promise<"on" | "off">;
}

const MIB = 1024 * 1024;

const FILES = {
  "a.txt": "one\n",
  "large.bin": "x".repeat(2000),
  "huge.bin": Buffer.alloc(11 * MIB),
  ".gitignore": "notes/\n",
  "notes/one.md": "1".repeat(2000),
  "notes/two.md": "2".repeat(2000),
};
const FILE_COUNT = Object.keys(FILES).length;

const CASES: readonly Case[] = [
  {
    key: "limits.fileBytes",
    value: "1000",
    effect: async (project) => ((await gaps(project)).includes("large.bin") ? "off" : "on"),
  },
  {
    key: "limits.checkpointBytes",
    value: "1000",
    effect: async (project) => {
      project.write("large.bin", `${(count += 1)}`.padEnd(2000, "x"));
      return (await gaps(project)).includes("large.bin") ? "off" : "on";
    },
  },
  { key: "limits.ignoredFileBytes", value: "1000", effect: hasAll },
  { key: "limits.ignoredFiles", value: "1", effect: hasAll },
  { key: "limits.ignoredBytes", value: "1000", effect: hasAll },
  {
    key: "disk.capBytes",
    value: String(64 * MIB),
    effect: async (project) =>
      (await project.ok("GET", "/api/status")).disk.capBytes === 64 * MIB ? "off" : "on",
  },
  {
    key: "retention.policy",
    value: "moldable",
    effect: async (project) => ((await gaps(project)).includes("huge.bin") ? "off" : "on"),
  },
  {
    key: "checkpoints.automatic",
    value: "off",
    effect: async (project) => ((await promptCheckpoint(project)) === null ? "off" : "on"),
  },
  {
    key: "checkpoints.policy",
    value: "message",
    effect: async (project) => {
      const { thread } = await project.ok("POST", "/api/threads", {});
      const before = await checkpointCount(project);
      await project.ok("POST", `/api/threads/${thread.id}/tools`, {
        phase: "before",
        tool: "Bash",
        toolUseId: thread.id,
      });
      return (await checkpointCount(project)) === before ? "off" : "on";
    },
  },
  {
    key: "outside.capture",
    value: "on",
    effect: async (project) => {
      const { thread } = await project.ok("POST", "/api/threads", {});
      const { checkpoint } = await project.ok("POST", `/api/threads/${thread.id}/tools`, {
        phase: "before",
        tool: "Write",
        toolUseId: thread.id,
        paths: [join(project.project, "../outside.txt")],
      });
      const { outside } = await project.ok("GET", `/api/checkpoints/${checkpoint.id}`);
      return outside.length === 0 ? "on" : "off";
    },
  },
  {
    key: "ghost.mode",
    value: "auto",
    effect: async (project) => {
      inRepository(project);
      const before = (await ghosts(project)).length;
      await promptCheckpoint(project);
      return (await ghosts(project)).length === before ? "on" : "off";
    },
  },
  {
    key: "ghost.keep",
    value: "1",
    effect: async (project) => {
      inRepository(project);
      for (const content of ["1\n", "2\n"]) {
        project.write("a.txt", `${(count += 1)} ${content}`);
        await project.ok("POST", "/api/ghosts", {});
      }
      return (await ghosts(project)).length === 1 ? "off" : "on";
    },
  },
];

let count = 0;

function inRepository(project: ServedProject): void {
  if (!existsSync(join(project.project, ".git")))
    execFileSync("git", ["init", "-q", project.project], { timeout: 30_000 });
}

async function ghosts(project: ServedProject): Promise<unknown[]> {
  return (await project.ok("GET", "/api/ghosts")).ghosts;
}

async function gaps(project: ServedProject): Promise<string[]> {
  const { checkpoint } = await project.ok("POST", "/api/checkpoints", {});
  return checkpoint.gaps.map(({ path }: { path: string }) => path);
}

async function hasAll(project: ServedProject): Promise<"on" | "off"> {
  const { checkpoint } = await project.ok("POST", "/api/checkpoints", {});
  return checkpoint.files === FILE_COUNT ? "on" : "off";
}

async function promptCheckpoint(project: ServedProject): Promise<string | null> {
  const { thread } = await project.ok("POST", "/api/threads", {});
  const { message } = await project.ok("POST", `/api/threads/${thread.id}/messages`, {
    role: "user",
    content: "hello",
  });
  return message.checkpoint;
}

async function checkpointCount(project: ServedProject): Promise<number> {
  return (await project.ok("GET", "/api/checkpoints?limit=10000")).checkpoints.length;
}

test.each(CASES)(
  "[R140] $key: on, off and on again while the resident process runs",
  ({ key, value, effect }) =>
    served(async (project) => {
      const seen: string[] = [await effect(project)];
      for (let round = 0; round < 2; round += 1) {
        expect(project.belay("config", key, value).status).toBe(0);
        seen.push(await effect(project));
        expect(project.belay("config", key, "--unset").status).toBe(0);
        seen.push(await effect(project));
      }
      expect(seen).toEqual(["on", "off", "on", "off", "on"]);
    }, FILES)(),
);

/** Settings that apply to the next start of the process; `pages.test.ts` has them. */
const AT_START = ["ui.port"];
/**
 * Settings of what the command adds to the process; `cli/test/timed-checkpoints.test.ts`, `cli/test/notices.test.ts`, `cli/test/background-sync.test.ts`,
 * `cli/test/remote.test.ts`, `cli/test/remote-team.test.ts`, `remote/test/sent-kinds.test.ts` and `cli/test/find.test.ts` have them.
 */
const OF_THE_COMMAND = [
  "checkpoints.timerMinutes",
  "sync.automatic",
  "sync.intervalSeconds",
  "sync.pullMinutes",
  "sync.uploadBytesPerSecond",
  "sync.downloadBytesPerSecond",
  "sync.transcripts",
  "sync.kinds",
  "sync.conversations",
  "sync.withhold",
  "approvals.fromTeam",
  "notices.desktop",
  "retrieval.scope",
  "retrieval.embedder",
  "retrieval.url",
  "retrieval.model",
  "retrieval.capBytes",
];

/** Settings that are read when a fork is made or removed; `engine/test/forks.test.ts` and `cli/test/fork.test.ts` have them. */
const OF_FORKS = [
  "forks.bytes",
  "forks.copyLimitBytes",
  "forks.dependencies",
  "forks.directory",
  "forks.env",
  "forks.git",
  "forks.graceHours",
  "forks.spare",
  "forks.limit",
  "forks.setup",
];

test(
  "[R140] every setting is tried",
  served(async (project) => {
    const { settings } = await project.ok("GET", "/api/settings");
    expect([...CASES.map(({ key }) => key), ...AT_START, ...OF_THE_COMMAND, ...OF_FORKS].sort()).toEqual(
      Object.keys(settings).sort(),
    );
  }),
);
