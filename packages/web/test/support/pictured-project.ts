/** The project of the pictures: the same history every time, with a clock and ids of its own, served by a real process. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createSystem, openWorkspace, type ThreadId, type Workspace } from "@belay/engine";
import { ServedProject } from "../../../server/test/support/served-project.ts";

/** When the pictures are taken. */
export const NOW = Date.UTC(2026, 9, 13, 10, 58, 12);
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Makes the project and serves it. Nothing of this machine is seen in it: neither its agents nor its time zone. */
export async function picturedProject(): Promise<ServedProject> {
  const project = new ServedProject();
  project.variables = { TZ: "UTC", HOME: project.base, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
  mkdirSync(project.project);
  for (const [path, text] of Object.entries(FILES)) put(project, path, text);
  const clock = { now: NOW - DAY_MS - 5 * 60 * MINUTE_MS };
  await makeHistory(project, clock);
  await project.serve();
  return project;
}

function put(project: ServedProject, path: string, text: string): void {
  const file = join(project.project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Ids that are the same every time. */
function idSource(): () => string {
  let count = 0;
  return () => {
    count += 1;
    const digits = count.toString(16).padStart(16, "0");
    return Array.from(digits)
      .map((digit) => String.fromCharCode(107 + Number.parseInt(digit, 16)))
      .join("");
  };
}

interface Clock {
  now: number;
}

async function makeHistory(project: ServedProject, clock: Clock): Promise<void> {
  const system = { ...createSystem(), now: () => clock.now, newId: idSource() };
  await using workspace = await openWorkspace(project.project, { home: project.home, system });
  const open = async (agent: string, title: string) =>
    (await workspace.threads.open({ agent, externalId: title, title, brackets: true })).id;
  const agents = {
    claude: await open("claude-code", "Payment retries"),
    codex: await open("codex", "OpenAPI docs"),
    gemini: await open("gemini-cli", "Flaky ledger test"),
  };
  const play = player(project, workspace, clock);
  await play(agents.gemini, "Find out why ledger.spec.ts is flaky", { "test/ledger.spec.ts": LEDGER_SPEC });
  await workspace.approvals.approve(agents.gemini, { message: "waits for the clock now" });
  clock.now = NOW - 76 * MINUTE_MS;
  await play(agents.claude, "Use idempotency keys for every charge", {
    "src/payments/client.ts": CLIENT_WITH_KEYS,
    "src/payments/keys.ts": KEYS,
  });
  await workspace.checkpoint({ name: "Before the retry work", note: "all tests green", tags: ["demo"] });
  clock.now += 6 * MINUTE_MS;
  put(project, "README.md", `${FILES["README.md"]}\nAsk Ada before the release.\n`);
  await play(agents.codex, "Describe the payment routes in openapi.yaml", { "docs/openapi.yaml": OPENAPI });
  clock.now += 9 * MINUTE_MS;
  await play(agents.claude, "Rewrite the ledger in one go", {
    "src/ledger.ts": "export const ledger = new Map();\n",
  });
  await workspace.undo();
  clock.now = NOW - 16 * MINUTE_MS;
  await play(agents.claude, "Add retry with exponential backoff to the payment client", {
    "src/payments/retry.ts": RETRY,
    "src/payments/client.ts": CLIENT_WITH_RETRY,
    "src/legacy.ts": null,
  });
  clock.now = NOW - 6 * MINUTE_MS;
  put(project, "README.md", `${FILES["README.md"]}\nAsk Ada before the release, and Grace.\n`);
}

/** Plays whole turns, each with its tool calls, twenty seconds a call. */
function player(project: ServedProject, workspace: Workspace, clock: Clock) {
  let calls = 0;
  return async (thread: ThreadId, content: string, files: Readonly<Record<string, string | null>>) => {
    await workspace.turns.prompt(thread, { content });
    for (const [path, text] of Object.entries(files)) {
      const toolUseId = `call-${(calls += 1)}`;
      clock.now += 20_000;
      const tool = { tool: text === null ? "Bash" : "Edit", toolUseId, nature: "edit" as const };
      await workspace.turns.beginTool(thread, { ...tool, paths: [path] });
      if (text === null) project.remove(path);
      else put(project, path, text);
      await workspace.turns.endTool(thread, { toolUseId });
    }
    clock.now += 12_000;
    await workspace.turns.end(thread);
  };
}

const FILES = {
  "README.md": "# payments-api\n\nCharges cards, keeps a ledger.\n",
  "package.json": '{ "name": "payments-api", "scripts": { "test": "vitest run" } }\n',
  "src/ledger.ts": "export function book(entry: Entry): void {\n  entries.push(entry);\n}\n",
  "src/legacy.ts": "export const legacy = true;\n",
  "src/payments/client.ts":
    "export async function charge(card: Card, amount: number) {\n  return post('/charges', { card, amount });\n}\n",
  "test/ledger.spec.ts": "test('books', () => expect(book(entry)).toBeUndefined());\n",
};
const LEDGER_SPEC =
  "test('books', async () => {\n  vi.useFakeTimers();\n  expect(book(entry)).toBeUndefined();\n});\n";
const CLIENT_WITH_KEYS =
  "import { keyFor } from './keys';\n\nexport async function charge(card: Card, amount: number) {\n  return post('/charges', { card, amount }, { key: keyFor(card, amount) });\n}\n";
const CLIENT_WITH_RETRY =
  "import { keyFor } from './keys';\nimport { withRetry } from './retry';\n\nexport async function charge(card: Card, amount: number) {\n  return withRetry(() => post('/charges', { card, amount }, { key: keyFor(card, amount) }));\n}\n";
const KEYS =
  "export function keyFor(card: Card, amount: number): string {\n  return hash(`${card.id}:${amount}`);\n}\n";
const RETRY = [
  "const ATTEMPTS = 5;",
  "const FIRST_WAIT_MS = 200;",
  "",
  "/** Tries again, each time after twice as long. */",
  "export async function withRetry<Result>(work: () => Promise<Result>): Promise<Result> {",
  "  for (let attempt = 1; ; attempt += 1) {",
  "    try {",
  "      return await work();",
  "    } catch (error) {",
  "      if (attempt === ATTEMPTS) throw error;",
  "      await sleep(FIRST_WAIT_MS * 2 ** attempt);",
  "    }",
  "  }",
  "}",
  "",
].join("\n");
const OPENAPI =
  "openapi: 3.1.0\ninfo: { title: payments, version: 1.0.0 }\npaths:\n  /charges:\n    post: {}\n";
