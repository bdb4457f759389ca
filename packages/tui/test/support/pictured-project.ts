/**
 * The project of the pictures: a payments service on which two agents worked this morning, played into a real store with
 * a fixed clock. The screens are tested on it.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createSystem, openWorkspace, type ThreadId, type Workspace } from "@belay/engine";
import { BelayClient, bodyPieces, readEvents, routePath } from "@belay/protocol/client";
import { createLocalApp, type LocalApp } from "@belay/server";
import type { Connection, Place } from "../../src/data/connection.ts";
import { INITIAL_FILES, LATER_FILES } from "./pictured-files.ts";

/** The screens write local times; tests read them. */
process.env["TZ"] = "UTC";

const DAY_MS = 86_400_000;
/** The day of the pictures is tomorrow: real times of files lie before everything that happens. */
const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS;
/** Longer than a tick of the clock that stamps files. */
const TICKS_MS = 40;
const OVER_THE_LIMIT = 65 * 1024 * 1024;

/** 10:42:03 of the day of the pictures, or of one before. */
export function at(time: string, daysAgo = 0): number {
  const [hours, minutes, seconds] = time.split(":").map(Number) as [number, number, number];
  return TODAY - daysAgo * DAY_MS + ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

/** A real project with a real store, which the screens reach through the server's application. */
export class PicturedProject implements AsyncDisposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "belay-tui-")));
  readonly project = join(this.base, "payments-api");
  readonly home = join(this.base, "home");
  now = at("10:53:09.2");
  #app: LocalApp | undefined;

  /** A protected directory in which nothing has happened. */
  static async empty(): Promise<PicturedProject> {
    const project = new PicturedProject();
    for (const [path, content] of Object.entries(INITIAL_FILES)) project.write(path, content);
    await project.play("09:00:00", async () => {}, 1);
    return project;
  }

  /** Everything that the pictures show. */
  static async played(): Promise<PicturedProject> {
    const project = await PicturedProject.empty();
    await playPictures(project);
    return project;
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(join(this.project, path)), { recursive: true });
    writeFileSync(join(this.project, path), content);
  }

  remove(path: string): void {
    rmSync(join(this.project, path));
  }

  /** Does something in the workspace at a time. */
  async play<Result>(
    time: string,
    work: (workspace: Workspace) => Promise<Result>,
    daysAgo = 0,
  ): Promise<Result> {
    const system = { ...createSystem(), now: () => at(time, daysAgo) };
    await using workspace = await openWorkspace(this.project, { home: this.home, system });
    return await work(workspace);
  }

  get place(): Place {
    return {
      workspace: this.project,
      name: "payments-api",
      clock: () => this.now,
      expectsResident: false,
      connect: () => Promise.resolve(connectionTo((this.#app ??= this.openApp()))),
    };
  }

  /** What a process serves that has the store open. */
  openApp(): LocalApp {
    return createLocalApp({
      home: this.home,
      version: "test",
      clock: () => this.now,
      command: noCommand,
    });
  }

  /** Every test that opened a store ends with this. */
  async verify(): Promise<readonly unknown[]> {
    await using workspace = await openWorkspace(this.project, { home: this.home });
    return (await workspace.upkeep.verify({ full: true })).problems;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app?.[Symbol.asyncDispose]();
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** A connection to what serves the project. */
export function connectionTo(app: LocalApp, by: Connection["by"] = "store"): Connection {
  const send = (path: string, request: RequestInit) => app.fetch(new Request(`http://belay${path}`, request));
  return {
    by,
    client: new BelayClient(async ({ method, path, body }) => {
      const headers = { "content-type": "application/json" };
      const answer = await send(path, body === undefined ? { method } : { method, body, headers });
      return { status: answer.status, body: await answer.text() };
    }),
    async *events(workspace, signal) {
      const answer = await send(routePath("GET /api/events", { query: { workspace } }), {});
      if (answer.body !== null) yield* readEvents(bodyPieces(answer.body, signal));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** The screens start no long work. */
const noCommand = () => Promise.reject(new Error("no command in this test"));

/** One tool call of a played turn. */
interface PlayedCall {
  readonly at: string;
  readonly until: string;
  readonly tool: string;
  readonly summary: string;
  /** Written after the agent had stopped waiting. */
  readonly late?: string;
  change(): void;
}

interface PlayedTurn {
  readonly thread: ThreadId;
  readonly prompt: string;
  readonly at: string;
  /** undefined: it works on */
  readonly until?: string;
  readonly calls: readonly PlayedCall[];
  readonly daysAgo?: number;
}

/** Plays a turn of an agent: its prompt, its calls, its end. */
export async function playTurn(project: PicturedProject, turn: PlayedTurn): Promise<void> {
  const { thread, prompt, calls, daysAgo = 0 } = turn;
  await project.play(turn.at, (workspace) => workspace.turns.prompt(thread, { content: prompt }), daysAgo);
  for (const call of calls) await playCall(project, thread, call, daysAgo);
  const { until } = turn;
  if (until !== undefined) await project.play(until, (workspace) => workspace.turns.end(thread), daysAgo);
}

async function playCall(
  project: PicturedProject,
  thread: ThreadId,
  call: PlayedCall,
  daysAgo: number,
): Promise<void> {
  const { tool, summary } = call;
  const toolUseId = `${thread} ${call.at}`;
  const nature = tool === "Bash" ? ("command" as const) : ("edit" as const);
  await project.play(
    call.at,
    (workspace) => workspace.turns.beginTool(thread, { tool, toolUseId, summary, nature }),
    daysAgo,
  );
  call.change();
  const deadline = await lateBy(project, call);
  await project.play(
    call.until,
    (workspace) => workspace.turns.endTool(thread, { toolUseId, ...(deadline && { deadline }) }),
    daysAgo,
  );
}

async function lateBy(project: PicturedProject, { late }: PlayedCall) {
  if (late === undefined) return undefined;
  const pause = () => new Promise((done) => setTimeout(done, TICKS_MS));
  await pause();
  const deadline = { at: Date.now(), reason: "late" as const };
  await pause();
  project.write(late, `${late} with the retry headers\n`);
  return deadline;
}

/** A thread of an agent. */
export async function openThread(project: PicturedProject, agent: string, title: string): Promise<ThreadId> {
  const thread = await project.play(
    "14:00:00",
    (workspace) => workspace.threads.create({ agent, externalId: `${agent}-1`, title, brackets: true }),
    1,
  );
  return thread.id;
}

async function playPictures(project: PicturedProject): Promise<void> {
  const claude = await openThread(project, "claude-code", "Payment retries");
  const codex = await openThread(project, "codex", "OpenAPI docs");
  await playYesterday(project, claude);
  await playIdempotency(project, claude);
  await project.play("10:24:10", (workspace) =>
    workspace.checkpoint({
      kind: "manual",
      name: "Before the retry work",
      note: "All green; what we showed on Tuesday.",
      tags: ["demo"],
    }),
  );
  await project.play("10:31:40", (workspace) => workspace.approvals.approve(claude));
  await playRetries(project, claude, codex);
}

async function playYesterday(project: PicturedProject, thread: ThreadId): Promise<void> {
  const edit = (paths: readonly string[], time: string, until: string): PlayedCall => ({
    at: time,
    until,
    tool: "Edit",
    summary: paths[0]!,
    change: () => paths.forEach((path) => project.write(path, LATER_FILES[`webhook ${path}`] ?? `${time}\n`)),
  });
  await playTurn(project, {
    thread,
    daysAgo: 1,
    prompt: "Retry the webhook three times",
    at: "16:20:44",
    until: "16:21:05.9",
    calls: [edit(["src/webhook.ts", "test/webhook.test.ts"], "16:20:50", "16:20:51")],
  });
  await project.play("17:40:00", (workspace) => workspace.approvals.approve(thread), 1);
  await playTurn(project, {
    thread,
    prompt: "Cache provider tokens in Redis",
    at: "10:11:20",
    until: "10:13:00",
    calls: [edit(["src/tokens.ts", "src/cache.ts", "src/config.ts", "src/redis.ts"], "10:11:30", "10:11:31")],
  });
  await project.play("10:15:00", (workspace) => workspace.undo());
}

async function playIdempotency(project: PicturedProject, thread: ThreadId): Promise<void> {
  const edited = [
    "src/payments/charge.ts",
    "src/payments/refund.ts",
    "src/config.ts",
    "src/tokens.ts",
    "README.md",
  ];
  const made = ["src/payments/keys.ts"];
  await playTurn(project, {
    thread,
    prompt: "Use idempotency keys for every charge",
    at: "10:18:55",
    until: "10:21:15.7",
    calls: [
      {
        at: "10:19:10",
        until: "10:19:12",
        tool: "Bash",
        summary: "./scripts/add-keys.sh",
        change: () => {
          for (const path of [...edited, ...made]) project.write(path, `${path}\nidempotency: key\n`);
          project.write("fixtures/dump.bin", "");
          truncateSync(join(project.project, "fixtures/dump.bin"), OVER_THE_LIMIT);
        },
      },
    ],
  });
}

async function playRetries(project: PicturedProject, claude: ThreadId, codex: ThreadId): Promise<void> {
  const docs = ["docs/openapi.yaml", "docs/retry.md"];
  await project.play("10:41:12", (workspace) =>
    workspace.turns.prompt(codex, { content: "Document the retry headers in the OpenAPI spec" }),
  );
  const write = (path: string) => () => project.write(path, LATER_FILES[path]!);
  await playTurn(project, {
    thread: claude,
    prompt: "Add retry with exponential backoff to the payment client",
    at: "10:42:03",
    until: "10:43:15.4",
    calls: [
      {
        at: "10:42:08",
        until: "10:42:09",
        tool: "Edit",
        summary: "src/payments/client.ts",
        change: write("src/payments/client.ts"),
      },
      {
        at: "10:42:31",
        until: "10:42:32",
        tool: "Write",
        summary: "src/payments/backoff.ts",
        change: write("src/payments/backoff.ts"),
      },
      {
        at: "10:42:51",
        until: "10:42:58",
        tool: "Bash",
        summary: "npm test -- payments -u",
        change: () => {
          project.write("test/__snapshots__/client.snap", LATER_FILES["test/__snapshots__/client.snap"]!);
          project.write("package.json", LATER_FILES["package.json"]!);
        },
      },
      {
        at: "10:43:10",
        until: "10:43:11",
        tool: "Edit",
        summary: "src/payments/legacy-retry.ts",
        change: () => project.remove("src/payments/legacy-retry.ts"),
      },
    ],
  });
  await playCall(
    project,
    codex,
    {
      at: "10:44:00",
      until: "10:44:05",
      tool: "Edit",
      summary: docs[0]!,
      late: "docs/flow.png",
      change: () => docs.forEach((path) => project.write(path, `${path} with the retry headers\n`)),
    },
    0,
  );
  await project.play("10:44:13", (workspace) => workspace.turns.end(codex));
  const budget = LATER_FILES["budget src/payments/client.ts"]!;
  await playTurn(project, {
    thread: claude,
    prompt: "Make the retry budget configurable per tenant",
    at: "10:52:31",
    calls: [
      {
        at: "10:52:40",
        until: "10:52:41",
        tool: "Write",
        summary: "src/payments/budget.ts",
        change: () => {
          project.write("src/payments/budget.ts", "export const budget = 5;\n");
          project.write("src/payments/client.ts", budget);
        },
      },
    ],
  });
  // the user took it out again by hand: the files are what they were after codex ended
  project.write("src/payments/client.ts", LATER_FILES["src/payments/client.ts"]!);
  project.remove("src/payments/budget.ts");
}
