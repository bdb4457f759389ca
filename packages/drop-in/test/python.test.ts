/** AgentSmithy's calls from Python, through the one-file client and a resident process that it starts itself. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makePlace } from "./support/place.ts";

const BELAY = join(import.meta.dirname, "../../cli/bin/belay.js");
const CALLS = join(import.meta.dirname, "support/agentsmithy_calls.py");
const TIMEOUT_MS = 120_000;

const version = spawnSync("python3", ["-c", "import sys; print(sys.version_info >= (3, 10))"], {
  encoding: "utf8",
  timeout: TIMEOUT_MS,
});
const hasPython = version.stdout?.trim() === "True";
if (!hasPython)
  console.warn("SKIPPED: there is no python3 of version 3.10 or newer; the Python client is not tested.");

const id = expect.stringMatching(/^[k-z]{16}$/);

test.skipIf(!hasPython)(
  "[A25] [A49] [A52] [R1788] the document's calls, from Python, in a project that was not protected",
  { timeout: TIMEOUT_MS },
  () => {
    const { root, home, look, exists, write } = makePlace({ "main.py": "x\n", ".gitignore": "*.log\n" });
    write("../home/config.json", JSON.stringify({ "limits.fileBytes": 100_000 }));
    const env = { ...process.env, BELAY_HOME: home, BELAY_COMMAND: `${process.execPath} ${BELAY}` };
    onTestFinished(() => {
      spawnSync(process.execPath, [BELAY, "--home", home, "stop"], { env, timeout: TIMEOUT_MS });
    });
    const { stdout, stderr, status } = spawnSync("python3", ["-B", CALLS, root], {
      encoding: "utf8",
      env,
      timeout: TIMEOUT_MS,
    });
    expect(stderr).toBe("");
    expect(status).toBe(0);
    const told = JSON.parse(stdout) as Record<string, any>;
    expect(told["before"]).toEqual([]);
    expect(told["index"]).toMatchObject({
      current_dialog_id: told["dialog"],
      dialogs: [
        {
          id: told["dialog"],
          title: "My Feature",
          active_session: "session_1",
          last_approved_at: null,
          initial_checkpoint: id,
        },
      ],
    });
    const [commit] = told["checkpoint"];
    expect(told["checkpoint"]).toEqual([id, "Before user message: Create a TODO app with 3 files", []]);
    expect(told["event"]).toEqual({
      type: "user",
      content: "Create a TODO app with 3 files",
      checkpoint: commit,
    });
    expect(told["aborted"]).toEqual(["x\n", false]);
    expect(told["messages"]).toEqual([
      {
        type: "human",
        content: "Create a TODO app with 3 files",
        additional_kwargs: { checkpoint: commit, session: "session_1" },
      },
      { type: "ai", content: "Done.", additional_kwargs: {} },
    ]);
    expect(told["last"]).toEqual([told["messages"][1]]);
    expect(told["pending"]).toMatchObject([{ path: "main.py", status: "modified", base_content: "x\n" }]);
    expect(told["uncommitted"]).toBe(true);
    expect(told["approved"]).toMatchObject({ approved_commit: id, new_session: "session_2" });
    expect(told["diff"]).toMatchObject([
      { path: "made-by-a-command.txt", status: "added" },
      { path: "main.py", status: "modified", additions: 1, deletions: 1 },
    ]);
    expect(told["reset"]).toEqual({
      reset_to: told["approved"].approved_commit,
      new_session: "session_3",
      pre_reset_checkpoint: id,
    });
    expect(told["after_reset"]).toEqual(["print('todo')\n", false]);
    expect(told["reset_again"]).not.toHaveProperty("pre_reset_checkpoint");
    expect(told["restored"]).toEqual(["made-by-a-command.txt", "main.py"]);
    expect(told["last_restore"]).toEqual({ new_checkpoint: id, safety_checkpoint: id, skipped: [] });
    expect(told["after_restore"]).toBe("broken\n");
    expect(told["listed"].slice(0, 2)).toEqual([
      "Initial snapshot before dialog: My Feature",
      "Before user message: Create a TODO app with 3 files",
    ]);
    const preReset = told["reset"]["pre_reset_checkpoint"] as string;
    expect(told["listed"].at(-1)).toBe(`Restored to checkpoint ${preReset.slice(0, 8)}`);
    expect([told["staged"], told["transaction"], told["kept"]]).toEqual([
      true,
      "Transaction: write: kept.log",
      ["kept.log"],
    ]);
    const gaps = [{ path: "large.bin", reason: "too-large" }];
    expect(told["gaps"]).toEqual([gaps, gaps]);
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    const login = "def verify_password(user):\n    return check_hash(user)\n";
    expect(told["search"]).toEqual({
      before: [{}, []],
      pieces: ["login.py#0"],
      long: 3,
      has: [true, false],
      document: [login, { source: "login.py", hash }],
      // the one that was never on disk went with the first question
      indexed: { "login.py": hash },
      sync: { checked: 1, reindexed: 1, removed: 0, skipped: 0 },
      changed: ["login.py"],
      back: [login],
      again: [[], 0],
      left: [],
      outside: "PATH_OUTSIDE",
    });
    expect(told["errors"]).toEqual([
      ["CheckpointNotFound", "CHECKPOINT_NOT_FOUND"],
      ["CheckpointNotFound", "CHECKPOINT_NOT_FOUND"],
      ["BelayError", "PATH_OUTSIDE"],
    ]);
    expect(told["default"]).toBe("without a dialog");
    expect(told["dialogs_left"]).toEqual(["default", "another"]);
    // what Python made, the command line undoes
    expect(exists("kept.log")).toBe(true);
    look((workspace) => workspace.undo());
    expect(exists("kept.log")).toBe(false);
  },
);
