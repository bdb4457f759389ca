/**
 * Plays a sequence on a stage and in the model, and compares the two after every action that writes files.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { PLAYERS, type Action, type Write } from "./actions.ts";
import { AgentClient, type ToolCall } from "./agent-client.ts";
import { OrderModel, type Call, type Files, type Scope, type Turn, type Verdict } from "./order-model.ts";
import { changeSlot, SLOT_FILE, slotFile } from "./slot-file.ts";
import type { Ran, Stage } from "./stage.ts";

/** One conversation with an agent. */
interface Session {
  readonly client: AgentClient;
  /** The turn that is open. */
  turn: Turn | undefined;
  /** After Esc the agent does nothing until its next prompt. */
  isEscaped: boolean;
  readonly calls: Map<Call, ToolCall>;
}

type PlayerAction = Extract<
  Action,
  { player: number; kind: "prompt" | "stop" | "escape" | "die" | "end" | "close" | "open" | "work" | "tool" }
>;

export const FIRST_FILES: Files = new Map([
  ["a.txt", "a at first\n"],
  ["b.txt", "b at first\n"],
  ["src/c.txt", "c at first\n"],
  // directories are changes as well, which the model does not know: all of them are there from the start
  ["docs/new/always.txt", "here\n"],
  [SLOT_FILE, slotFile(["one", "two", "three"])],
]);

export class Play {
  readonly #stage: Stage;
  readonly #model = new OrderModel(FIRST_FILES);
  readonly #sessions = new Map<number, Session>();
  readonly #clients: AgentClient[] = [];
  readonly #checkpoints: { readonly id: string; readonly files: Files }[] = [];
  readonly #turns = new Set<Turn>();
  #count = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#checkpoints.push({ id: "1", files: FIRST_FILES });
  }

  /** False when the action makes no sense here, and nothing was done. */
  async act(action: Action): Promise<boolean> {
    switch (action.kind) {
      case "hand":
        return this.#hand(action.writes);
      case "run":
        return this.#run(action.writes);
      case "checkpoint":
        return this.#checkpoint();
      case "restore":
        return this.#restore(action);
      case "undo":
        return this.#undo(action);
      case "redo":
        return this.#redo(action);
      case "prompt":
        return this.#prompt(action.player);
      default:
        return this.#play(action);
    }
  }

  async end(): Promise<void> {
    for (const client of this.#clients) await client.kill();
  }

  async #play(action: PlayerAction): Promise<boolean> {
    const known = this.#sessions.get(action.player);
    if (action.kind === "die" || action.kind === "end")
      return known !== undefined && this.#leave(action.kind, action.player);
    const isIdle = known?.turn === undefined || known.isEscaped;
    // an idle agent gets a prompt first
    if (isIdle && (!["open", "work", "tool"].includes(action.kind) || !(await this.#prompt(action.player))))
      return false;
    const session = this.#sessions.get(action.player)!;
    if (session.turn === undefined) return false;
    switch (action.kind) {
      case "open":
        return this.#open(session, session.turn, action);
      case "work":
        return this.#work(session, session.turn, action.writes);
      case "tool":
        return this.#tool(session, session.turn, action);
      case "close":
        return this.#close(session);
      case "stop":
        return this.#stop(session);
      case "escape":
        return this.#escape(session);
      default:
        return false;
    }
  }

  async #prompt(player: number): Promise<boolean> {
    const session = this.#sessions.get(player) ?? (await this.#newSession(player));
    if (foreground(session).length > 0 && !session.isEscaped) return false;
    const title = `prompt ${this.#next()} for ${session.client.agent}`;
    await session.client.prompt(title, `turn-${this.#count}`);
    session.turn = this.#model.beginTurn(session.client.session, title);
    this.#turns.add(session.turn);
    session.isEscaped = false;
    this.#dropCalls(session);
    return true;
  }

  async #newSession(player: number): Promise<Session> {
    // one home serves many projects, and no two conversations of an agent have the same id
    const id = `${randomUUID()}-${player}`;
    const client = new AgentClient(PLAYERS[player]!, id, this.#stage.clientPlace);
    this.#clients.push(client);
    await client.start();
    const session = { client, turn: undefined, isEscaped: false, calls: new Map() };
    this.#sessions.set(player, session);
    return session;
  }

  async #open(
    session: Session,
    turn: Turn,
    { path, isBackground }: { path: string | undefined; isBackground: boolean },
  ): Promise<boolean> {
    const { agent } = session.client;
    if (foreground(session).length > 0 && agent !== "gemini-cli") return false;
    const inBackground = isBackground && path === undefined && agent === "claude-code";
    const tool = {
      id: `call-${this.#next()}`,
      command: `command ${this.#count}`,
      path,
      isBackground: inBackground,
    };
    await session.client.before(tool);
    const call = this.#model.openCall(turn, path === undefined ? undefined : [path]);
    session.calls.set(call, tool);
    if (inBackground) {
      await session.client.after(tool);
      this.#model.capture();
    }
    return true;
  }

  async #tool(
    session: Session,
    turn: Turn,
    { isNamed, writes }: { isNamed: boolean; writes: readonly Write[] },
  ): Promise<boolean> {
    const path = isNamed ? writes[0]!.path : undefined;
    if (!(await this.#open(session, turn, { path, isBackground: false }))) return false;
    for (const write of isNamed ? writes.slice(0, 1) : writes) this.#write(write);
    return this.#close(session);
  }

  async #work(session: Session, turn: Turn, writes: readonly Write[]): Promise<boolean> {
    if (session.calls.size === 0) await this.#open(session, turn, { path: undefined, isBackground: false });
    const tool = [...session.calls.values()].at(-1);
    if (tool === undefined) return false;
    for (const write of writes) this.#write({ ...write, path: tool.path ?? write.path });
    return true;
  }

  async #close(session: Session): Promise<boolean> {
    const last = foreground(session).at(-1);
    if (last === undefined) return this.#endBackground(session);
    const [call, tool] = last;
    await session.client.after(tool);
    this.#model.closeCall(call);
    session.calls.delete(call);
    return true;
  }

  /** A background command ends, and no event reports it. */
  async #endBackground(session: Session): Promise<boolean> {
    const [last] = session.calls;
    if (last === undefined) return false;
    await session.client.endCommand(last[1]);
    this.#model.cutOff(last[0]);
    session.calls.delete(last[0]);
    return true;
  }

  async #stop(session: Session): Promise<boolean> {
    while (foreground(session).length > 0) await this.#close(session);
    await session.client.stop(`answer ${this.#next()}`, [...session.calls.values()]);
    this.#model.capture();
    this.#dropCalls(session);
    session.turn = undefined;
    return true;
  }

  async #escape(session: Session): Promise<boolean> {
    const { client, calls } = session;
    const isCodex = client.agent === "codex";
    // A background command goes on, and an edit is done before a person can press a key; only Codex reports it.
    const isCertain = [...calls.values()].every(
      ({ isBackground, path }) => !isBackground && path === undefined,
    );
    if (!isCodex && !isCertain) return false;
    await client.interrupt([...calls.values()]);
    if (isCodex) {
      this.#model.capture();
      this.#dropCalls(session);
    } else {
      for (const call of calls.keys()) this.#model.cutOff(call);
      calls.clear();
    }
    session.isEscaped = true;
    return true;
  }

  async #leave(kind: "die" | "end", player: number): Promise<boolean> {
    const session = this.#sessions.get(player)!;
    await (kind === "die" ? session.client.kill() : session.client.end());
    for (const call of session.calls.keys()) this.#model.cutOff(call);
    this.#sessions.delete(player);
    return true;
  }

  async #hand(writes: readonly Write[]): Promise<boolean> {
    const named = [...this.#model.calls].some(({ names }) => names !== undefined);
    if (this.#model.isUnclear || named) return false;
    for (const write of writes) this.#write(write);
    return true;
  }

  async #run(writes: readonly Write[]): Promise<boolean> {
    if (this.#model.isUnclear) return false;
    const thread = `run ${this.#next()}`;
    const changes = writes.map((write) => [write.path, this.#content(write)] as const);
    const script = changes
      .map(([path, content]) =>
        content === undefined
          ? `rm -f '${path}'`
          : `mkdir -p "$(dirname '${path}')" && printf '${content.replaceAll("\n", String.raw`\n`)}' >'${path}'`,
      )
      .join(" && ");
    const turn = this.#model.beginTurn(thread, thread);
    this.#turns.add(turn);
    const call = this.#model.openCall(turn, undefined);
    const { status, json } = await this.#stage
      .belay("run", "--agent", "tester", "--", "sh", "-c", script)
      .catch((error: Error) => ({
        status: error.message.includes("ended with 0") ? 0 : 1,
        json: error.message,
      }));
    assert.equal(status, 0, `belay run: ${JSON.stringify(json)}`);
    for (const [path, content] of changes) this.#note(path, content);
    this.#model.closeCall(call);
    return true;
  }

  async #checkpoint(): Promise<boolean> {
    const { status, json } = await this.#stage.belay("checkpoint");
    assert.equal(status, 0, JSON.stringify(json));
    this.#model.capture();
    this.#checkpoints.push({ id: json.checkpoint.id, files: new Map(this.#model.disk) });
    return true;
  }

  async #restore({
    choice,
    paths,
  }: {
    choice: number;
    paths: readonly string[] | undefined;
  }): Promise<boolean> {
    const { id, files } = this.#checkpoints[choice % this.#checkpoints.length]!;
    // A path that neither has is a mistake, and refused as one.
    if (paths?.some((path) => !files.has(path) && !this.#model.disk.has(path))) return false;
    const ran = await this.#stage.belay("restore", id, ...(paths ?? []), "--yes");
    this.#model.restore(files, paths);
    this.#compare(ran, { outcome: "done", steps: [] });
    return true;
  }

  async #undo(action: Extract<Action, { kind: "undo" }>): Promise<boolean> {
    const found = await this.#scope(action);
    if (found === undefined || !this.#model.isOrderClear(found)) return false;
    const { path, includeShared } = action;
    const scope = { ...found, path, includeShared };
    const part = path === undefined ? "all" : this.#model.partOf(scope);
    // A path that none of the steps changed is a mistake, and refused as one.
    if (part === "none") return false;
    const options = [...scope.options, ...(includeShared ? ["--include-shared"] : [])];
    const words = [String(scope.count), ...(path === undefined ? [] : [path]), ...options];
    const ran = await this.#stage.belay("undo", ...words, "--yes");
    const whole = { ...scope, path: undefined };
    this.#compare(ran, part === "all" ? this.#model.undo(whole, this.#turns) : this.#model.undoPart(scope));
    for (const { calls } of this.#sessions.values())
      for (const call of calls.keys()) if (!this.#model.calls.has(call)) calls.delete(call);
    return true;
  }

  async #redo(action: Extract<Action, { kind: "redo" }>): Promise<boolean> {
    const scope = await this.#scope(action);
    if (scope === undefined || !this.#model.isRedoClear(scope)) return false;
    const ran = await this.#stage.belay("redo", String(scope.count), ...scope.options, "--yes");
    this.#compare(ran, this.#model.redo(scope));
    return true;
  }

  async #scope(action: {
    count: number;
    player: number | undefined;
  }): Promise<(Scope & { options: string[] }) | undefined> {
    const { count, player } = action;
    if (player === undefined) return { count, options: [] };
    const session = this.#sessions.get(player)?.client.session;
    const { json } = await this.#stage.belay("threads");
    const thread = json.threads.find((known: { externalId: string }) => known.externalId === session);
    return thread && { count, thread: session, options: ["--thread", thread.id] };
  }

  #compare({ status, json }: Ran, verdict: Verdict): void {
    const expected =
      verdict.outcome === "done" ? verdict.steps.map(({ kind, title }) => ({ kind, title })) : [];
    const context = `the model says ${JSON.stringify({ ...verdict, steps: expected })}, belay ${status} ${JSON.stringify(json)}`;
    assert.deepEqual(this.#stage.files(), this.#model.disk, context);
    assert.equal(status, verdict.outcome === "refused" ? 3 : 0, context);
  }

  #dropCalls(session: Session): void {
    for (const call of session.calls.keys()) this.#model.calls.delete(call);
    session.calls.clear();
  }

  #write(write: Write): void {
    const content = this.#content(write);
    this.#stage.put(write.path, content);
    this.#note(write.path, content);
  }

  #note(path: string, content: string | undefined): void {
    if (content === undefined) this.#model.disk.delete(path);
    else this.#model.disk.set(path, content);
  }

  #content({ path, slot, isRemoval }: Write): string | undefined {
    if (isRemoval) return undefined;
    const word = `word ${this.#next()}`;
    return path === SLOT_FILE ? changeSlot(this.#model.disk.get(path), slot, word) : `${word}\n`;
  }

  #next(): number {
    return ++this.#count;
  }
}

function foreground({ calls }: Session): [Call, ToolCall][] {
  return [...calls].filter(([, { isBackground }]) => !isBackground);
}
