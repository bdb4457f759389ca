/** Forgetting a conversation takes what hooks keep beside the store, whichever way it is forgotten. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { noteUncaptured, setUncapturedAside } from "@belay/agents/uncaptured";
import { afterEach, beforeEach, expect, test } from "vitest";
import { OverduePlace } from "../../agents/src/state/overdue-events.ts";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
beforeEach(async () => void (sandbox = await Sandbox.protected()));
afterEach(() => {
  sandbox.belay(["stop"]);
  sandbox[Symbol.dispose]();
});

const event = (name: string, more: Record<string, unknown>) =>
  JSON.stringify({ hook_event_name: name, cwd: sandbox.project, ...more });

function hook(input: string): void {
  const env = { BELAY_RESIDENT: "off", BELAY_WAIT_MS: "30000" };
  expect(sandbox.belay(["hook", "claude-code"], { input, env })).toMatchObject({ status: 0 });
}

const bash = (session: string, word: string) => ({
  session_id: session,
  tool_name: "Bash",
  tool_input: { command: `login ${word}` },
  tool_use_id: `t-${session}`,
});

/** A command that is under way. */
function beginCommand(session: string, word: string): void {
  const prompt = { session_id: session, prompt: `use ${word}`, prompt_id: `p-${session}` };
  hook(event("UserPromptSubmit", prompt));
  hook(event("PreToolUse", bash(session, word)));
}

/** An overdue event that was not carried out yet. */
function leaveEvent(session: string, word: string): void {
  const input = event("PostToolUse", bash(session, word));
  const sent = { agent: "claude-code", cwd: sandbox.project, environment: {}, input };
  const id = `${Date.now()}-${session.slice(1)}`;
  new OverduePlace(sandbox.home, sent).leave({ ...sent, id, deadline: Date.now(), worker: null });
}

/** A turn that could not be captured, in a directory that no command of this test looks at. */
function loseTurn(session: string, word: string): void {
  setUncapturedAside(sandbox.home);
  const none = { parentSession: null, transcript: null, turnId: null, run: null, moment: null };
  const about = { cwd: "/elsewhere", text: `lost ${word}`, key: word, messageId: null };
  const lost = { ...none, ...about, kind: "prompt", session } as const;
  const how = { agent: "claude-code", ends: [], cwd: "/elsewhere", now: Date.now(), problem: "full" };
  noteUncaptured(sandbox.home, { ...how, event: lost });
}

/** The files of Belay's home that have a word in them. */
function filesWith(word: string): string[] {
  return readdirSync(sandbox.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => readFileSync(file).includes(word))
    .map((file) => file.slice(sandbox.home.length + 1).replace(/[0-9a-f]{16,}|[0-9-]{13,}/g, "*"));
}

const WAYS: Record<string, (thread: string) => Promise<void>> = {
  "forget --thread": async (thread) => void sandbox.ok("forget", "--thread", thread, "--yes"),
  "DELETE /api/threads/:id": (thread) => deleteThrough(`/api/threads/${thread}`),
  "DELETE /api/dialogs/:id": (thread) => deleteThrough(`/api/dialogs/${thread}`),
};

async function deleteThrough(path: string): Promise<void> {
  const { url, token } = sandbox.json(["start"]) as { url: string; token: string };
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(`${url}${path}`, { method: "DELETE", headers })).status).toBe(200);
  sandbox.ok("stop");
}

test.each(Object.keys(WAYS))("[R165] %s: no byte of it is left beside the store either", async (way) => {
  const [secret, other] = ["hunter2-and-a-half", "another-word-of-ours"];
  for (const leave of [beginCommand, leaveEvent, loseTurn]) {
    leave("s1", secret);
    leave("s2", other);
  }
  const beside = (word: string) => filesWith(word).filter((file) => file.startsWith("agents/"));
  expect(beside(secret)).toEqual(beside(other));
  const places = new Set(beside(secret).map((file) => file.split("/")[1]));
  expect(places).toEqual(new Set(["notes", "overdue", "uncaptured"]));
  const threads = sandbox.json(["threads"]).threads as { id: string; externalId: string }[];
  const before = beside(other);
  await WAYS[way]!(threads.find(({ externalId }) => externalId === "s1")!.id);
  expect(filesWith(secret)).toEqual([]);
  expect(beside(other)).toEqual(before);
});
