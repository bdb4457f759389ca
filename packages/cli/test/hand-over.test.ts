/**
 * Commands that the resident process runs for their caller: the answer is the one the caller would have given itself,
 * and whatever is out of the ordinary the caller does itself.
 */
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

interface Facts {
  readonly url: string;
  readonly token: string;
}

interface Answer {
  readonly exit: number;
  readonly texts: readonly { readonly to: string; readonly text: string }[];
}

/** A caller in another time zone runs its commands itself, whatever process is there. */
const ALONE = { TZ: "Pacific/Kiritimati" };
const PLAIN = { colour: false, noteColour: false, columns: null };

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await Sandbox.protected();
  await sandbox.checkpoint({ name: "before" });
  sandbox.write("a.txt", "changed\n");
  sandbox.json(["start"]);
});

afterEach(async () => {
  sandbox.belay(["stop"]);
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

describe("the resident process", () => {
  test("answers a command once its workspace is open, and leaves it to the caller until then", async () => {
    expect(await send({ argv: ["list"] })).toBeNull();
    const answer = await whenOpen();
    expect(answer).toMatchObject({ exit: 0, texts: [{ to: "stdout" }] });
    expect(answer.texts[0]!.text).toContain("before");
  });

  test("runs a command in its caller's directory and for its caller's terminal", async () => {
    await whenOpen();
    const src = join(sandbox.project, "src");
    await expect.poll(() => send({ argv: ["list"], directory: src })).toMatchObject({ exit: 0 });
    const terminal = { colour: true, noteColour: false, columns: 40 };
    const { texts } = (await send({ argv: ["list", "--limit", "1"], terminal }))!;
    expect(texts.map(({ to }) => to)).toEqual(["stdout", "stderr"]);
    expect(texts[0]!.text).toContain("\u001b[1m");
    expect(texts[1]!.text).toMatch(/^… .*--limit/);
    // oxlint-disable-next-line no-control-regex -- colours are what this is about
    for (const line of texts[0]!.text.replaceAll(/\u001b\[\d+m/g, "").split("\n"))
      expect(line.length).toBeLessThanOrEqual(40);
  });

  test("looks for agents where the caller's variables say", async () => {
    await whenOpen();
    const PATH = join(sandbox.base, "programs");
    sandbox.write("../programs/claude", "#!/bin/sh\n");
    const agents = async (variables: object) => {
      const answer = await send({ argv: ["status", "--json"], variables });
      return JSON.parse(answer!.texts[0]!.text).capture.agents.map(({ agent }: { agent: string }) => agent);
    };
    expect(await agents({ PATH: "/nowhere" })).toEqual([]);
    chmodSync(join(PATH, "claude"), 0o755);
    expect(await agents({ PATH })).toEqual(["claude-code"]);
  });

  test.each([
    ["in another time zone", { variables: ALONE }],
    ["of another user's home", { variables: { HOME: "/elsewhere" } }],
    ["with another home of Belay", { argv: ["list", "--home", "elsewhere"] }],
    ["in a directory that is not protected", { directory: "/" }],
    ["in a directory that is gone", { argv: ["list", "-C", "/no/such/place"] }],
    ["that makes a mistake", { argv: ["list", "--kind", "nonsense"] }],
    ["with an option that does not exist", { argv: ["status", "--dry-rum"] }],
    ["that would change files", { argv: ["undo", "--yes"] }],
    ["that does not exist", { argv: ["lst"] }],
  ])("leaves a caller %s alone", async (_, request) => {
    await whenOpen();
    expect(await send({ argv: ["list"], ...request })).toBeNull();
  });
});

describe("a command", () => {
  test.each([
    [],
    ["list"],
    ["list", "--json"],
    ["list", "--search", "before"],
    ["status", "--quiet"],
    ["status", "-s"],
  ])("says through the resident process what it says alone: %s %s", async (...argv) => {
    await whenOpen();
    const alone = sandbox.belay(argv, { env: ALONE });
    const handed = sandbox.belay(argv);
    // the one alone lives in another time zone
    const times = /\d+ (?:s|min) ago|just now|since \S+ \S+|\d{4}-\d\d-\d\d|\d\d:\d\d|\s+$/gm;
    expect(handed.stdout.replaceAll(times, "")).toBe(alone.stdout.replaceAll(times, ""));
    expect(handed).toMatchObject({ status: alone.status, stderr: alone.stderr });
    expect(handed.status).toBe(0);
  });

  test("takes a checkpoint with its name, note and tags", async () => {
    await whenOpen();
    const { checkpoint } = sandbox.json(["checkpoint", "-m", "now", "--note", "a note", "--tag", "t"]);
    expect(checkpoint).toMatchObject({ name: "now", note: "a note", tags: ["t"], changes: { modified: 1 } });
    expect(sandbox.json(["list", "--limit", "1"], 0, { env: ALONE }).checkpoints[0]).toMatchObject({
      id: checkpoint.id,
    });
  });

  test("reports its mistakes itself", async () => {
    await whenOpen();
    expect(sandbox.error(["list", "--kind", "nonsense"], 2).message).toContain("nonsense");
    expect(sandbox.error(["status", "-C", "/"], 4).code).toBe("WORKSPACE_NOT_FOUND");
  });

  test("finds the process by an option after the command", async () => {
    await whenOpen();
    const env = { BELAY_HOME: join(sandbox.base, "none") };
    expect(sandbox.json(["list", "--home", sandbox.home], 0, { env }).checkpoints).not.toEqual([]);
  });
});

test("a process that a command starts opens the command's directory by itself", async () => {
  sandbox.belay(["stop"]);
  sandbox.json(["checkpoint"], 0, { env: { BELAY_RESIDENT: "" } });
  await expect.poll(watched).toBe("live");
});

/** The first answer that the resident process gives for the project. */
async function whenOpen(): Promise<Answer> {
  let answer: Answer | null = null;
  await expect.poll(async () => (answer = await send({ argv: ["list"] }))).not.toBeNull();
  return answer!;
}

async function send(request: {
  argv?: readonly string[];
  directory?: string;
  variables?: object;
  terminal?: object;
}): Promise<Answer | null> {
  const { HOME, BELAY_HOME } = sandbox.environment;
  const { TZ } = process.env;
  const environment = { HOME, BELAY_HOME, ...(TZ !== undefined && { TZ }), ...request.variables };
  const { argv = [], directory = sandbox.project, terminal = PLAIN } = request;
  const answer = await ask("POST", "/api/command", { argv, directory, environment, terminal });
  return answer as Answer | null;
}

/** How the one open workspace is watched; undefined before there is one. */
async function watched(): Promise<string | undefined> {
  try {
    const { workspaces } = (await ask("GET", "/api/resident")) as {
      workspaces: { watching: { state: string } | null }[];
    };
    return workspaces[0]?.watching?.state;
  } catch {
    return undefined;
  }
}

async function ask(method: string, path: string, body?: object): Promise<unknown> {
  const facts = JSON.parse(readFileSync(join(sandbox.home, "run/resident.json"), "utf8")) as Facts;
  const answer = await fetch(`${facts.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${facts.token}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return answer.json();
}
