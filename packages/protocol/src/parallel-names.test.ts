/** The names that programs for several agents rely on: fields of JSON, routes, events. Renaming one breaks them. */
import { expect, test } from "vitest";
import type { BelayEvent } from "./events.ts";
import { ROUTES } from "./routes.ts";
import * as shapes from "./shapes.ts";

const words = (text: string) => text.trim().split(/\s+/);

test("[R1950] forks, runs, merges, conflicts, fixes and branches have the fields that are documented", () => {
  const fields = [
    [
      shapes.fork,
      "id name path branch base head state method files bytes bytesOnDisk dependencies git port run durationMs",
    ],
    [
      shapes.run,
      `id batch fork branch thread agent role prompt status exitCode signal reason startedAt endedAt cost tokens before
      after changes session resumable log escaped`,
    ],
    [
      shapes.mergeOutcome,
      `id state into sources merged conflicts notMerged checks resolution outcome safetyCheckpoint
      newCheckpoint created modified deleted steps durationMs`,
    ],
    [
      shapes.mergeConflict,
      "id merge path agents severity autoResolvable reason kind reasons regions options state resolution",
    ],
    [shapes.fix, "id state attempts issues snapshots options result"],
    [shapes.branch, "name head base parent current workingCopy state ahead behind files run updatedAt"],
  ] as const;
  for (const [{ shape }, text] of fields)
    expect(Object.keys(shape)).toEqual(expect.arrayContaining(words(text)));
  const { dependencies, method } = shapes.fork.shape;
  expect(Object.keys(dependencies.element.shape)).toEqual(words("path how bytes reason"));
  expect(method.options).toEqual(words("clone copy spare"));
  expect(Object.keys(shapes.run.shape.tokens.unwrap().shape)).toEqual(words("input output cached total"));
  expect(Object.keys(shapes.run.shape.log.unwrap().shape)).toEqual(words("stdout stderr truncated"));
  const { sources, merged, checks, resolution } = shapes.merge.shape;
  expect(Object.keys(sources.element.shape)).toEqual(words("branch run base head outcome commits"));
  expect(Object.keys(merged.element.shape)).toEqual(
    expect.arrayContaining(words("path severity how agents")),
  );
  expect(Object.keys(checks.element.shape)).toEqual(words("command source exitCode durationMs"));
  expect(Object.keys(resolution.shape)).toEqual(words("autoResolved mergerResolved userResolved success"));
  const conflict = shapes.mergeConflict.shape;
  expect(Object.keys(conflict.resolution.unwrap().shape)).toEqual(words("by take explanation dropped at"));
  expect(conflict.kind.options).toEqual(
    words("content delete-modify rename type binary symlink lock generated check"),
  );
  expect(Object.keys(shapes.fix.shape.attempts.element.shape)).toEqual(
    words("number severity checkpoint run issuesBefore issuesAfter takenBack"),
  );
});

test("[R1950] the routes of branches, forks, runs, merges, conflicts and fixes are the documented ones", () => {
  const routes = `
    GET /branches; POST /branches; PATCH /branches/:name; DELETE /branches/:name; GET /branches/:name/switch/preview;
    POST /branches/:name/switch; POST /branches/:name/merge; GET /forks; POST /forks; GET /forks/:id; DELETE /forks/:id;
    POST /forks/:id/restore; GET /runs; GET /runs/:id; GET /runs/:id/log; POST /runs/:id/stop; POST /runs;
    POST /runs/:id/resume; POST /merges; GET /merges; GET /merges/:id; POST /merges/:id/apply; POST /merges/:id/abandon;
    POST /merges/:id/agent; GET /merges/:id/conflicts; GET /conflicts/:id; POST /conflicts/:id/resolve;
    POST /conflicts/:id/reopen; POST /fixes; GET /fixes/:id; POST /fixes/:id/answer`;
  const wanted = routes.split(";").map((route) => route.trim().replace(" /", " /api/"));
  expect(Object.keys(ROUTES)).toEqual(expect.arrayContaining(wanted));
});

/** A name that is no event's does not compile. */
const EVENTS = [
  "fork_created",
  "fork_removed",
  "branch_created",
  "branch_updated",
  "branch_deleted",
  "branch_switched",
  "agent_started",
  "agent_progress",
  "agent_finished",
  "agents_overlap",
  "merge_planned",
  "merge_applied",
  "merge_abandoned",
  "conflict_opened",
  "conflict_resolved",
  "fix_started",
  "fix_attempt",
  "fix_escalated",
  "fix_finished",
] as const satisfies readonly BelayEvent["type"][];

test("[R1950] each of these events is one of its own", () => {
  expect(new Set(EVENTS).size).toBe(19);
});
