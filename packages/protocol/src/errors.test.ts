/** Reports are made from any thrown value, for people and programs. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { belayCommand, shellWords } from "./command-text.ts";
import { ContractError, errorJson, ERRORS, EXIT, reportError, usageError } from "./errors.ts";

const TERMINAL = { kind: "terminal", shellDirectory: () => "/home/you/project/src" } as const;
const API = { kind: "api" } as const;

/** As the engine throws it, without the engine. */
function engineError(code: string, facts: object): Error {
  return Object.assign(new Error(`${code} happened.`), { name: "EngineError", code, facts });
}

describe("the table", () => {
  test("has the contract's statuses and exit codes, and a hint for every error", () => {
    const statuses = new Set([400, 401, 403, 404, 405, 409, 413, 415, 422, 423, 429, 500, 503, 507]);
    const exits = new Set<number>(Object.values(EXIT));
    for (const [code, row] of Object.entries(ERRORS)) {
      expect(statuses.has(row.status), code).toBe(true);
      expect(exits.has(row.exit), code).toBe(true);
      expect(row.exit, code).not.toBe(EXIT.done);
      expect(row.hint, code).not.toBe("");
    }
  });

  test.each([
    ["not found", EXIT.notFound, 404],
    ["damaged", EXIT.damaged, 500],
    ["a restore is running", EXIT.running, 423],
    ["a newer format", EXIT.newer, 409],
  ])("means one thing in a terminal and over HTTP: %s", (_, exit, status) => {
    // what is damaged on a server is the request's misfortune, not this process's failure: 422
    const rows = Object.entries(ERRORS).flatMap(([code, row]) =>
      row.exit === exit && !(code.startsWith("REMOTE_") && row.status === 422) ? [row] : [],
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(new Set(rows.map((row) => row.status))).toEqual(new Set([status]));
  });

  test("answers a stale plan and conflicts with 409, as the contract has it", () => {
    expect(ERRORS.PLAN_STALE).toMatchObject({ status: 409, exit: 3 });
    expect(ERRORS.CONFLICTS).toMatchObject({ status: 409, exit: 3 });
    expect(ERRORS.CONFIRMATION_REQUIRED).toMatchObject({ exit: 3 });
  });
});

describe("a report", () => {
  test("of a contract's error has the table's decisions and the error's own facts", () => {
    const error = new ContractError("PATH_NOT_KEPT_OUT", "x was not kept out.", { facts: { path: "x" } });
    expect(reportError(error, TERMINAL)).toEqual({
      code: "PATH_NOT_KEPT_OUT",
      message: "x was not kept out.",
      hint: "`belay status` lists what is.",
      exit: 4,
      status: 404,
      facts: { path: "x" },
      list: [],
    });
  });

  test("keeps the hint and the list that the situation gave", () => {
    const report = reportError(new ContractError("USAGE", "No.", { hint: "Yes.", list: ["a"] }), TERMINAL);
    expect(report).toMatchObject({ hint: "Yes.", list: ["a"], exit: 2 });
    expect(reportError(usageError("No.", "So."), API)).toMatchObject({ code: "USAGE", hint: "So." });
  });

  test("names a route over HTTP where there is one, and a command in a terminal", () => {
    const error = engineError("THREAD_NOT_FOUND", { thread: "t" });
    expect(reportError(error, TERMINAL).hint).toBe("`belay threads` lists them.");
    expect(reportError(error, API).hint).toBe("GET /api/threads lists the threads of a workspace.");
    const taken = engineError("NAME_TAKEN", { name: "my tag", checkpoint: "kkkk" });
    expect(reportError(taken, API).hint).toBe(reportError(taken, TERMINAL).hint);
  });

  test("makes its hint of the facts", () => {
    const hint = (code: string, facts: object) => reportError(engineError(code, facts), TERMINAL).hint;
    expect(hint("STEPS_MISSING", { wanted: 3, available: 0 })).toContain("belay list");
    expect(hint("STEPS_MISSING", { wanted: 3, available: 2 })).toMatch(/\bat most\b.*2|2 at most/);
    expect(hint("CONTENT_PRUNED", { step: "s", description: "", checkpoint: null })).toContain("belay list");
    expect(hint("CONTENT_PRUNED", { step: "s", description: "", checkpoint: "12" })).toContain(
      "belay restore 12",
    );
    expect(hint("STORE_UNSAFE", { store: "/s t", reason: "others can write" })).toContain(
      "chmod go-w '/s t'",
    );
    expect(hint("STORE_UNSAFE", { store: "/s", reason: "another owner" })).toContain("--home");
    expect(hint("NAME_INVALID", { name: "@12" })).toContain('"v-12"');
    expect(hint("NAME_INVALID", { name: "@ " })).toContain('"v-1"');
    expect(hint("NAME_INVALID", { name: "@new" })).toContain('"new"');
    expect(hint("NAME_INVALID", { name: "kkkkzzzzkkkkzzzz" })).toContain('"v-kkkkzzzzkkkkzzzz"');
  });

  test("says of a workspace that is not found what became of it", () => {
    const place = { id: "kkkkkkkkkkkkkkkk", path: "/home/you/project" };
    const hint = (facts: object, reader: typeof TERMINAL | typeof API = TERMINAL) =>
      reportError(engineError("WORKSPACE_NOT_FOUND", { path: "/x", candidates: [], ...facts }), reader).hint;
    expect(hint({})).toBe("`belay init` protects this directory.");
    expect(hint({ ended: { ...place, store: "/s" } })).toContain("protects it again");
    expect(hint({ movedTo: place })).toContain("belay attach kkkkkkkkkkkkkkkk");
    expect(hint({ candidates: [place] })).toContain("`belay restore @`");
    expect(hint({ candidates: [place] }, API)).toContain("GET /api/workspaces");
    const { list } = reportError(
      engineError("WORKSPACE_NOT_FOUND", { path: "/x", candidates: [place] }),
      TERMINAL,
    );
    expect(list).toEqual(["kkkkkkkkkkkkkkkk  /home/you/project"]);
  });

  test("takes a failed system call for the file system's answer", () => {
    let thrown: unknown;
    try {
      readFileSync("/nowhere/at-all");
    } catch (error) {
      thrown = error;
    }
    const report = reportError(thrown, TERMINAL);
    expect(report).toMatchObject({
      code: "FILE_SYSTEM",
      exit: 1,
      status: 500,
      facts: { path: "/nowhere/at-all", operation: "open" },
    });
    expect(report.message).toMatch(/^ENOENT.*\.$/);
  });

  test("takes everything else for a mistake in Belay, with the lines that lead to it", () => {
    const report = reportError(new TypeError("x is not a function"), TERMINAL);
    expect(report).toMatchObject({ code: "INTERNAL", message: "x is not a function", exit: 1, status: 500 });
    expect(report.list[0]).toMatch(/^\s+at /);
    expect(reportError("thrown", TERMINAL)).toMatchObject({ code: "INTERNAL", message: "thrown", list: [] });
    // a code of a library is none of ours
    expect(reportError(engineError("ERR_SOMETHING", {}), TERMINAL).code).toBe("INTERNAL");
    const foreign = Object.assign(new Error("no"), { code: "PLAN_STALE", facts: {} });
    expect(reportError(foreign, TERMINAL).code).toBe("INTERNAL");
    // no name that every object has is a code
    expect(reportError(engineError("constructor", {}), TERMINAL).code).toBe("INTERNAL");
  });

  test("in JSON: facts cannot replace what the contract says", () => {
    const facts = { code: "x", message: "x", hint: "x", path: "a" };
    const report = reportError(new ContractError("PATH_OUTSIDE", "Outside.", { facts }), API);
    expect(errorJson(report)).toEqual({
      error: { code: "PATH_OUTSIDE", message: "Outside.", hint: report.hint, path: "a" },
    });
  });
});

describe("commands in hints", () => {
  test("are quoted for a shell", () => {
    expect(shellWords(["belay", "show", "12"])).toBe("belay show 12");
    expect(shellWords(["a b", "it's", "", "$x"])).toBe(`'a b' 'it'\\''s' '' '$x'`);
    expect(shellWords(["@-2", "src/a.ts", "a:b=c%d+e,f"])).toBe("@-2 src/a.ts a:b=c%d+e,f");
  });

  test.each([
    ["in it", "/a/b", "belay restore @"],
    ["below it", "/a/b/c", "belay restore @"],
    ["beside it", "/a/bc", "belay -C /a/b restore @"],
    ["above it", "/a", "belay -C /a/b restore @"],
    ["anywhere", undefined, "belay -C /a/b restore @"],
  ])("name the directory unless the shell stands there: %s", (_, shell, command) => {
    expect(belayCommand("/a/b", ["restore", "@"], shell)).toBe(command);
  });

  test("know the root of the file system", () => {
    expect(belayCommand("/", ["init"], "/a")).toBe("belay init");
    expect(belayCommand("C:\\work", ["init"], "C:\\work\\src")).toBe("belay init");
  });
});
