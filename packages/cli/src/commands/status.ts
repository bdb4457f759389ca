import type { Checkpoint, SessionStatus, SyncState, WorkspaceStatus } from "@belay/engine";
import { lastEventText } from "../agents/agent-checks.ts";
import type { AgentCapture, CaptureObstacle, CaptureState } from "../agents/capture-state.ts";
import { ALL_ENTRIES, defineCommand } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import { statusJson, type ResidentStatus } from "@belay/server/json";
import { warnAll, withWorkspace } from "../wiring/open-workspace.ts";
import { changedFilesText, changesPaint, changesText, checkpointLabel } from "../output/checkpoint-table.ts";
import { factTable, section } from "../output/facts.ts";
import { changedFileList, excludedList, gapList } from "../output/file-list.ts";
import type { Output } from "../output/output.ts";
import { count, dayAndTime, grouped, relativeTime, size } from "@belay/tui/text";
import { stepLabel } from "../output/step-label.ts";
import { threadLabel } from "../output/thread-table.ts";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "status [--short] [--all]",
  about: [
    "What is protected, what changed since the newest checkpoint, what stays out and why, and the disk use.",
    "--short is one line for a shell's prompt.",
  ].join("\n"),
  options: {
    short: { type: "boolean", short: "s", about: "one line: captured or not, and what changed" },
    all: ALL_ENTRIES,
  },
  operands: { min: 0, max: 0 },
  examples: ["belay status", "belay status --short"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const status = await workspace.status();
      const { all } = call.options;
      const isShort = call.options.short === true && !call.json;
      if (!isShort) warnAll(call, status.warnings);
      const { ownStatus, residentStatus } = await import("../resident/resident-status.ts");
      const resident =
        call.hosted === undefined ? await residentStatus(call.home, workspace.id) : ownStatus(workspace);
      const { captureJson, captureState } = await import("../agents/capture-state.ts");
      const { home, directory, environment } = call;
      const capture = await captureState({ home, directory, workspace, environment, how: "quick" });
      const shown = { ...status, resident, capture };
      if (isShort) call.output.print(shortText(shown, call.output));
      else if (call.json)
        call.output.json({ ...statusJson(status, { resident }), capture: captureJson(capture) });
      else call.output.print(statusText(shown, call.output, all));
      return EXIT.done;
    }),
});

interface ShownStatus extends WorkspaceStatus {
  readonly resident: ResidentStatus;
  readonly capture: CaptureState;
}

/** `✓ 3 changed (+1 ~2 -0)`; what is in the way of captures comes first. */
function shortText({ capture, changes, exists }: ShownStatus, { style }: Output): string {
  const [obstacle] = capture.obstacles;
  const state = obstacle === undefined ? style.green("✓") : `${style.red("✗")} ${OBSTACLES[obstacle.code]}`;
  const total = changes === null ? 0 : changes.added + changes.modified + changes.deleted;
  if (!exists || changes === null || total === 0) return state;
  return `${state} ${grouped(total)} changed (${changesPaint(style)(changesText(changes))})`;
}

/** In few words: a prompt is short. */
const OBSTACLES: Readonly<Record<CaptureObstacle["code"], string>> = {
  NOT_PROTECTED: "not protected",
  GONE: "gone",
  STORE_FAILS: "store fails",
  SETTINGS_INVALID: "settings invalid",
  PAUSED: "paused",
  AUTOMATIC_OFF: "automatic off",
  STORE_FULL: "store full",
  CAPTURES_FAIL: "captures fail",
  NO_HOOKS: "no hooks",
  NO_EVENTS: "no events",
};

function statusText(status: ShownStatus, output: Output, all: boolean | undefined): string {
  const { changedFiles, gaps, excluded, capture } = status;
  const parts = [
    ...capture.obstacles.map((obstacle) => obstacleText(obstacle, output)),
    output.style.bold(visible(status.root)),
    factTable(facts(status, output), output),
  ];
  if (status.changes !== null && changedFiles.length > 0) {
    const title = `Changed since the newest checkpoint (${changedFilesText(status.changes)})`;
    parts.push(section(title, changedFileList(changedFiles, output, all), output));
  }
  if (gaps.length > 0)
    parts.push(section("Not captured", gapList(gaps, status.limits, { output, all }), output));
  if (excluded.length > 0) parts.push(section("Not protected", excludedList(excluded, output, all), output));
  if (!output.quiet && status.exists) parts.push(`\n${output.style.dim("→")} ${nextStep(status)}`);
  return parts.join("\n");
}

function facts(status: ShownStatus, output: Output) {
  const { newest, canUndo, canRedo, undoDropped, pausedTurns, disk, checkpoints, thread, session } = status;
  const { since } = status.capture;
  const protectedSince = since === 0 ? "" : `since ${dayAndTime(since)}, `;
  const use = `${size(disk.bytes)} of at most ${size(disk.capBytes)}`;
  const { style } = output;
  const label = (one: Checkpoint) => `${relativeTime(one.createdAt)}: ${checkpointLabel(one, style)}`;
  return [
    ["protected", `${protectedSince}${count(checkpoints, "checkpoint")}, ${use}`] as const,
    ["newest", newest === null ? "none yet" : label(newest)] as const,
    ["since then", sinceThen(status)] as const,
    thread === null ? undefined : (["thread", threadLabel(thread)] as const),
    session === null ? undefined : (["session", sessionText(session)] as const),
    canUndo === null ? undefined : (["undo", stepLabel(canUndo)] as const),
    undoDropped === 0 ? undefined : (["no undo", droppedText(undoDropped)] as const),
    pausedTurns === 0 ? undefined : (["no undo", pausedText(pausedTurns)] as const),
    canRedo === null ? undefined : (["redo", stepLabel(canRedo)] as const),
    status.runs === 0
      ? undefined
      : (["agents", `${count(status.runs, "run")} at work: \`belay agents list\``] as const),
    status.openConflicts === 0
      ? undefined
      : (["merge", `${count(status.openConflicts, "conflict")} to decide: \`belay conflicts\``] as const),
    ...status.sync.map((remote) => [`remote ${visible(remote.remote)}`, syncText(remote)] as const),
    ...status.capture.agents.map((agent) => [agent.title, agentText(agent)] as const),
    ["store", visible(status.store)] as const,
    status.resident.running
      ? ([
          "resident",
          `process ${status.resident.pid}${status.resident.watching && status.exists ? ", watching these files" : ""}`,
        ] as const)
      : undefined,
  ];
}

function syncText({ state, queued, pushedAt, problem }: SyncState): string {
  const since = pushedAt === null ? "never pushed" : `last pushed ${relativeTime(pushedAt)}`;
  if (state === "synced") return `has everything, ${since}`;
  if (state === "queued") return `${count(queued, "checkpoint")} not sent yet, ${since}`;
  const waiting = queued === 0 ? "" : `${count(queued, "checkpoint")} ${queued === 1 ? "waits" : "wait"}`;
  if (state === "offline") return ["offline", since, waiting].filter((part) => part !== "").join(", ");
  // a problem is told in sentences
  return `${visible(problem ?? "")}${waiting === "" ? "" : ` ${waiting}.`}`;
}

function sinceThen({ exists, changes, changedFiles }: ShownStatus): string {
  if (!exists) return "the whole directory is gone";
  if (changes === null) return "unknown: that checkpoint is damaged";
  return changedFiles.length === 0
    ? "no changes"
    : `${changedFilesText(changes)} changed (${changesText(changes)})`;
}

function droppedText(steps: number): string {
  return `${count(steps, "step")} whose checkpoints were dropped can no longer be undone`;
}

function pausedText(turns: number): string {
  return `${count(turns, "turn")} made while captures were paused cannot be undone`;
}

/** Printed first: that nothing is captured must not be buried in a list. */
function obstacleText({ detail, hint }: CaptureObstacle, { style }: Output): string {
  return `${style.red("✗")} ${style.bold(visible(detail))}\n  ${style.dim("→")} ${visible(hint)}`;
}

function agentText(agent: AgentCapture): string {
  const { captured, problem } = agent;
  const state = captured ? "captured" : "not captured";
  return `${state}, ${lastEventText(agent)}${problem === null ? "" : `: ${visible(problem)}`}`;
}

function sessionText({ session, changedFiles, hasUnapproved }: SessionStatus): string {
  return `${session}, ${hasUnapproved ? `${count(changedFiles.length, "file")} unapproved` : "everything approved"}`;
}

function nextStep({ changedFiles, canUndo, canRedo }: WorkspaceStatus): string {
  if (changedFiles.some(({ type }) => type === "deleted"))
    return "`belay restore @` brings back what is gone; `belay diff` shows the changes; `belay checkpoint` keeps them.";
  if (changedFiles.length > 0) return "`belay diff` shows the changes; `belay checkpoint` keeps them.";
  if (canUndo !== null) return "`belay undo` takes back the last step.";
  return canRedo === null
    ? "`belay run -- <agent>` makes a step that can be undone."
    : "`belay redo` brings back what was undone.";
}
