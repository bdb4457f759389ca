/**
 * Watches the program of a run until it has ended: reads what it reports, keeps its limits, and makes sure that no
 * process is left. It need not have started the program: a run whose watcher died is watched on by another process.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { NO_FACTS, type AgentFacts, type ReadFacts } from "./agent-facts.ts";
import { cutFile, GrowingFile } from "./run-log.ts";
import { endProcesses, livingPid } from "./process-tree.ts";
import type { Processes, RunEnd, RunOutcome, RunPlace, RunRecord, Tokens } from "./run-record.ts";

/** How a program ended, where this process started it. */
export interface ProgramEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** What watching needs. */
export interface Watch {
  readonly place: RunPlace;
  readonly run: RunRecord;
  readonly read: ReadFacts;
  readonly processes: Processes;
  readonly logBytes: number;
  /** Set where this process started the program. */
  readonly ended?: Promise<ProgramEnd>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Told what the agent reported, at most once a second. */
  readonly progress?: (progress: { cost: number | null; tokens: Tokens | null; lines: number }) => void;
}

const LOOK_MS = 100;
const REPORT_MS = 1000;
const MIB = 1 << 20;

/** The run as it ended, and what the agent said. */
export async function watchRun(watch: Watch): Promise<{ outcome: RunOutcome; facts: AgentFacts }> {
  const { run, logBytes } = watch;
  const log = run.log!;
  using stdout = new GrowingFile(log.stdout, logBytes);
  using stderr = new GrowingFile(log.stderr, logBytes);
  using _ = stayAwake();
  const state = { facts: NO_FACTS, lines: 0, reportedAt: 0, told: NO_FACTS };
  const takeIn = (lines: Iterable<string>) => {
    for (const line of lines) {
      state.lines += 1;
      state.facts = watch.read(state.facts, line);
    }
  };
  let end: ProgramEnd | undefined;
  const ended = watch.ended?.then((known) => (end = known));
  let stopped: Stopped | undefined;
  while (end === undefined && stopped === undefined && isAlive(watch)) {
    await Promise.race([sleep(LOOK_MS), ...(ended === undefined ? [] : [ended])]);
    takeIn(stdout.lines());
    stopped = stdout.isOver || stderr.isOver ? tooMuch(logBytes) : overLimit(watch, state.facts);
    stopped ??= await report(watch, state);
  }
  if (stopped !== undefined) await watch.place.runs.ending(run.id, stopped.reason);
  else stopped = await askedToStop(watch);
  // the pid of a program that this process started is its own; one from a record may be another program's by now
  const pid = ended === undefined ? livingPid(run.process, watch.processes) : run.process!.pid;
  await endProcesses({ id: run.id, pid });
  if (ended !== undefined) await ended;
  takeIn(stdout.lines({ ended: true }));
  const truncated = [log.stdout, log.stderr].map((file) => cutFile(file, logBytes)).includes(true);
  return { outcome: outcomeOf(watch, state.facts, { end, stopped, truncated }), facts: state.facts };
}

/** Its program keeps no process alive: without this, one that waits for nothing but the program's end would exit. */
function stayAwake(): Disposable {
  const timer = setInterval(() => undefined, REPORT_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

interface Stopped {
  readonly status: RunEnd;
  readonly reason: string;
}

function isAlive({ run, processes, ended }: Watch): boolean {
  // its end is announced to the process that started it
  return ended !== undefined || (run.process !== null && processes.isAlive(run.process));
}

function tooMuch(logBytes: number): Stopped {
  const limit = logBytes < MIB ? `${logBytes} bytes` : `${Math.round(logBytes / MIB)} MiB`;
  return { status: "failed", reason: `it printed more than ${limit}` };
}

function overLimit({ run, now = Date.now }: Watch, { cost, tokens }: AgentFacts): Stopped | undefined {
  const { timeoutMs, maxCost, maxTokens } = run.limits;
  if (timeoutMs !== null && now() - (run.startedAt ?? now()) > timeoutMs)
    return { status: "timed-out", reason: `it ran longer than ${minutes(timeoutMs)}` };
  if (maxCost !== null && cost !== null && cost > maxCost)
    return { status: "over-budget", reason: `it cost ${cost}, more than ${maxCost}` };
  const total = tokens?.total ?? null;
  if (maxTokens !== null && total !== null && total > maxTokens)
    return { status: "over-budget", reason: `it used ${total} tokens, more than ${maxTokens}` };
  return undefined;
}

function minutes(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1000} s`;
}

/** The reason that a stop by the user records. */
export const STOPPED = "stopped";

/** At most once a second: tells what the agent reported, and looks whether the user wants it stopped. */
async function report(
  { place, run, now = Date.now, progress }: Watch,
  state: { facts: AgentFacts; lines: number; reportedAt: number; told: AgentFacts },
): Promise<Stopped | undefined> {
  const at = now();
  if (at - state.reportedAt < REPORT_MS) return undefined;
  state.reportedAt = at;
  const { session, cost, tokens } = state.facts;
  if (state.facts !== state.told) {
    const told = { cost, tokens, lines: state.lines };
    await place.runs.progress(run.id, { ...(session !== null && { session }), ...told });
    progress?.(told);
  }
  state.told = state.facts;
  return askedToStop({ place, run });
}

/** Another process may have ended the program, and says so in the record. */
async function askedToStop({ place, run }: Pick<Watch, "place" | "run">): Promise<Stopped | undefined> {
  const { reason } = await place.runs.find(run.id);
  return reason === null ? undefined : { status: "stopped", reason };
}

function outcomeOf(
  { ended }: Watch,
  facts: AgentFacts,
  how: { end: ProgramEnd | undefined; stopped: Stopped | undefined; truncated: boolean },
): RunOutcome {
  const { session, cost, tokens } = facts;
  const { end, stopped, truncated } = how;
  const { exitCode = null, signal = null } = end ?? {};
  const common = { exitCode, signal, cost, tokens, session, truncated };
  if (stopped !== undefined) return { ...common, ...stopped };
  if (ended === undefined)
    return { ...common, status: "interrupted", reason: "it ended while no process of Belay watched it" };
  if (exitCode === 0 && facts.failure === null) return { ...common, status: "done", reason: null };
  const reason = facts.failure ?? (signal === null ? `exit code ${exitCode}` : `ended by ${signal}`);
  return { ...common, status: "failed", reason };
}
