/** One error, three faces: every code of the table through the command line, HTTP and MCP. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineError, type ErrorCode, type ErrorFacts } from "@belay/engine";
import { shapes } from "@belay/protocol";
import { ContractError, errorJson, ERRORS, type ErrorName } from "@belay/protocol/errors";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failure } from "../../agents/src/mcp/tool-result.ts";
import { createApp } from "../../server/src/resident/create-app.ts";
import { ENGINE_ERRORS } from "../../server/src/json/engine-errors.ts";
import { WorkspaceHost } from "../../server/src/hosting/workspace-host.ts";
import { PageBook } from "../../server/src/http/page-book.ts";
import { BackgroundWork } from "../../server/src/hosting/background-work.ts";
import { reportError } from "../src/call/error-report.ts";
import { errorText } from "../src/output/error-text.ts";
import { createStyle } from "../src/output/style.ts";

const PLACE = { id: "kkkkkkkkkkkkkkkk", path: "/home/you/elsewhere" };
const STORE = { store: "/home/you/.belay/workspaces/x" };

/** Facts as the engine gives them. */
const FACTS: { readonly [Code in ErrorCode]: ErrorFacts[Code] } = {
  WORKSPACE_NOT_FOUND: { path: "/x", candidates: [PLACE] },
  WORKSPACE_REFUSED: { path: "/", reason: "is the root of the file system" },
  WORKSPACE_EMPTIED: { path: "/home/you/gone" },
  CHECKPOINT_NOT_FOUND: { checkpoint: "99" },
  CHECKPOINT_AMBIGUOUS: { checkpoint: "n", candidates: [{ id: "kkkk", seq: 3, description: "Before x" }] },
  THREAD_AMBIGUOUS: { thread: "t", candidates: [{ id: "llll", agent: "a", title: null }] },
  THREAD_NOT_FOUND: { thread: "t" },
  MESSAGE_NOT_FOUND: { message: "m" },
  EDIT_NOT_FOUND: { edit: "e" },
  CHECKPOINT_PROTECTED: { checkpoint: "12", reason: "approved" },
  CHECKPOINT_IMPORTED: { checkpoint: "12", origin: "moldable" },
  LIMIT_REACHED: { limit: 50, thread: "t" },
  BRANCH_NOT_FOUND: { branch: "x" },
  BRANCH_IN_USE: { branch: "x", path: "/home/you/fork" },
  FORK_NOT_FOUND: { fork: "x" },
  FORK_LIMIT: { limit: "forks.limit", needed: 17, available: 16 },
  FORK_BUSY: { fork: "x", path: "/home/you/fork", tools: [], pids: [12] },
  FORK_UNCAPTURED: { fork: "x", path: "/home/you/fork", paths: [{ path: "big", reason: "too-large" }] },
  BRANCH_TAKEN: { branch: "x", deleted: true },
  MERGE_NOT_FOUND: { merge: "x" },
  CONFLICT_NOT_FOUND: { conflict: "x" },
  CONFLICT_AMBIGUOUS: { conflict: "a.txt", candidates: [{ id: "mmmm", source: "f", path: "a.txt" }] },
  MERGE_OPEN: { merge: "x", open: 2 },
  CHECK_FAILED: { command: ["npm", "test"], exitCode: 1, output: "1 failed" },
  ANSWER_REFUSED: { conflict: "x", options: ["ours", "theirs"] },
  BRANCH_NAME_INVALID: { branch: "a b", reason: "it has a blank in it" },
  RUN_ALIVE: { tools: ["Bash"] },
  RUN_NOT_FOUND: { run: "kkkk" },
  FIX_NOT_FOUND: { fix: "kkkk" },
  NAME_TAKEN: { name: "n", checkpoint: "kkkk" },
  NAME_INVALID: { name: "@1" },
  PATH_OUTSIDE: { path: "../x" },
  PATH_NOT_IN_CHECKPOINT: { path: "x", checkpoint: "kkkk" },
  OBJECT_CORRUPT: { object: "0".repeat(64), checkpoints: ["kkkk"] },
  OBJECT_MISSING: { object: "0".repeat(64), checkpoints: ["kkkk"] },
  STORE_CORRUPT: STORE,
  STORE_MISSING: STORE,
  STORE_REPLACED: STORE,
  STORE_READ_ONLY: STORE,
  STORE_UNSAFE: { ...STORE, reason: "others can write to it" },
  STORE_BUSY: STORE,
  STORE_FULL: { missingBytes: 1 },
  DISK_FULL: { path: "/x" },
  PURGE_UNFINISHED: { ...STORE, reason: "the disk is full" },
  STORE_NEWER: { ...STORE, version: 9, supported: 2 },
  SQLITE_TOO_OLD: { version: "1", needed: "2" },
  INTERRUPTED: { done: 1, total: 2 },
  RESTORE_RUNNING: { pid: 1, since: "2026-01-01T00:00:00.000Z" },
  RECOVERY_BLOCKED: { operation: "kkkk", paths: ["a.txt"], before: 4 },
  PREFLIGHT_FAILED: { problems: [{ path: "a.txt", reason: "no permission" }] },
  PLAN_STALE: { plan: "kkkk" },
  PATTERN_TOO_SLOW: { limitMs: 10_000 },
  STEPS_MISSING: { wanted: 3, available: 1 },
  CONTENT_PRUNED: { step: "s", description: "a turn", checkpoint: "12" },
  CONFIG_INVALID: { key: "k", reason: "r" },
  FILE_SYSTEM: { path: "/x", operation: "open" },
};

/** The facts that a person sees in a terminal as a list. */
const LISTED: { readonly [Code in ErrorCode]?: string } = {
  WORKSPACE_NOT_FOUND: "kkkkkkkkkkkkkkkk  /home/you/elsewhere",
  CHECKPOINT_AMBIGUOUS: "3  kkkk  Before x",
  THREAD_AMBIGUOUS: "llll  a",
  CONFLICT_AMBIGUOUS: "mmmm  f  a.txt",
  OBJECT_CORRUPT: "kkkk",
  OBJECT_MISSING: "kkkk",
  RECOVERY_BLOCKED: "a.txt",
  PREFLIGHT_FAILED: "a.txt: no permission",
};

const MESSAGE = "This went wrong.";

function thrownAs(code: ErrorName): Error {
  return Object.hasOwn(FACTS, code)
    ? new EngineError(code as ErrorCode, MESSAGE, FACTS[code as ErrorCode])
    : new ContractError(code, MESSAGE, { facts: { about: "x" } });
}

const CODES = Object.keys(ERRORS) as ErrorName[];
let home: string;
let app: ReturnType<typeof createApp>;
let host: WorkspaceHost;
const logged: string[] = [];

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "belay-faces-"));
  const log = { info: () => undefined, error: (text: string) => void logged.push(text) };
  host = new WorkspaceHost({ home, log, clock: Date.now });
  const served = {
    host,
    version: "0",
    pages: new PageBook(Date.now),
    ending: new AbortController().signal,
    listeners: new Set<symbol>(),
    work: new BackgroundWork(() => Promise.resolve({}), Date.now),
    facts: () => ({ pid: 1, version: "0", url: "", token: "", startedAt: "", foreground: false }),
    stop: () => undefined,
  };
  app = createApp(served, log, (routes) => {
    routes.get("/throw/:code", (context) => {
      throw thrownAs(context.req.param("code") as ErrorName);
    });
  });
});
afterAll(async () => {
  await host.close();
  rmSync(home, { recursive: true });
});

test("every code of the engine has its row", () => {
  expect(Object.keys(FACTS).filter((code) => !Object.hasOwn(ENGINE_ERRORS, code))).toEqual([]);
});

describe.each(CODES)("[R188] %s", (code) => {
  const row = ERRORS[code];

  test("ends a command with the table's exit code and says what to do", () => {
    const report = reportError(thrownAs(code));
    expect(report).toMatchObject({ code, message: MESSAGE, exit: row.exit });
    expect(report.hint.length).toBeGreaterThan(10);
    expect(report.hint).not.toMatch(/undefined|\[object/);
    const { error } = shapes.errorBody.parse(errorJson(report));
    expect(error).toMatchObject({ ...report.facts, code, message: MESSAGE, hint: report.hint });
    const text = errorText(report, createStyle(false));
    expect(text).toContain(MESSAGE);
    expect(text.endsWith(report.hint)).toBe(true);
    const listed = (LISTED as Readonly<Record<string, string>>)[code];
    expect(report.list).toEqual(listed === undefined ? [] : [listed]);
  });

  test("is answered over HTTP with the table's status and the same words", async () => {
    logged.length = 0;
    const response = await app.request(`/throw/${code}`);
    expect(response.status).toBe(row.status);
    const { error } = shapes.errorBody.parse(await response.json());
    const report = reportError(thrownAs(code));
    expect(error).toMatchObject({ ...report.facts, code, message: MESSAGE });
    expect(error.hint).toBe("apiHint" in row ? row.apiHint : report.hint);
    expect(logged.length).toBe(row.status >= 500 ? 1 : 0);
  });

  test("is told to a model with what the user can type, and to programs with its code", () => {
    const result = failure(thrownAs(code));
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toBeUndefined();
    const error = result["_meta"]!["belay/error"] as Record<string, unknown>;
    expect(error).toMatchObject({ code, message: MESSAGE });
    const text = result.content[0]!.text;
    expect(text).toContain(`Belay: ${MESSAGE} Nothing was changed.`);
    if (code !== "INTERNAL") expect(text).toContain(String(error["hint"]));
  });
});

test("what is no error of the contract is a mistake in Belay everywhere", async () => {
  const mistake = new TypeError("x is not a function");
  expect(reportError(mistake)).toMatchObject({ code: "INTERNAL", exit: 1 });
  const result = failure(mistake);
  expect(result["_meta"]!["belay/error"]).toMatchObject({ code: "INTERNAL" });
  expect(result.content[0]!.text).toBe("Belay: x is not a function Nothing was changed.");
  const response = await app.request("/throw/toString");
  expect(response.status).toBe(500);
});

test("a secret in an error's words or facts does not reach a model", () => {
  const facts = { name: "PASSWORD=hunter2", checkpoint: "kkkk" };
  const result = failure(new EngineError("NAME_TAKEN", "PASSWORD=hunter2 is taken.", facts));
  expect(JSON.stringify(result)).not.toContain("hunter2");
});

test("an address that is not there is an error of the contract", async () => {
  const response = await app.request("/api/nothing");
  expect(response.status).toBe(404);
  expect(((await response.json()) as { error: object }).error).toMatchObject({ code: "ROUTE_NOT_FOUND" });
});
