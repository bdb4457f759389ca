/** Planted bugs in attribution and undo. */
import type { PlantedBug } from "./planted-bugs.ts";

export const UNDO_BUGS: readonly PlantedBug[] = [
  {
    name: "calls of a client that was killed stay open",
    suite: "order",
    tries: 100,
    edits: [
      {
        file: "history/liveness",
        text: "if (isAgentGone(db, call.thread, moment)) return true;",
        instead: "",
      },
    ],
  },
  {
    name: "the whole turn is a window for changes",
    suite: "order",
    tries: 100,
    edits: [
      {
        file: "history/tool-calls",
        text: 'db.get("SELECT 1 FROM thread WHERE id = ? AND brackets = 1", thread)',
        instead: "undefined",
      },
    ],
  },
  {
    name: "what left the rules is not asked for",
    suite: "narrow",
    tries: 200,
    edits: [
      {
        file: "capture/left-behind",
        text: "const left = leavers(present.objects, newest, present);",
        instead: "const left = [];",
      },
    ],
  },
  {
    name: "a gap does not make way",
    suite: "narrow",
    tries: 200,
    edits: [
      {
        file: "restore/plan-steps",
        text: 'else if (now?.kind === "gap" && !isSpecial(now))',
        instead: 'else if (now?.kind === "gap")',
      },
    ],
  },
  {
    name: "what became too large is not saved first",
    suite: "narrow",
    tries: 200,
    edits: [
      {
        file: "restore/widen-look",
        text: "present.gaps.filter((gap) => isBySize(gap) && paths.has(gap.path))",
        instead: "[]",
      },
    ],
  },
  {
    name: "there is no way across a gap",
    suite: "narrow",
    tries: 200,
    edits: [
      {
        file: "restore/plan-steps",
        text: "withoutSettled(acrossGaps(delta), direction",
        instead: "withoutSettled(delta, direction",
      },
    ],
  },
  {
    name: "the cap does not spare the turn that is open",
    suite: "narrow",
    tries: 200,
    edits: [
      {
        file: "upkeep/make-room",
        text: 'const spared = checkpointsOfNewestSteps(store.db, "any");',
        instead: "const spared = new Set();",
      },
    ],
  },
  {
    name: "a database and its logs are read one by one",
    suite: "databases",
    tries: 4_000,
    edits: [
      {
        file: "capture/read-databases",
        text: "if (this.#isUnchanged(this.#path, pending) && this.#isUnchanged(this.#journal, pending)) return true;",
        instead: "return true;",
      },
    ],
  },
  {
    name: "turns that share a file are undone one after the other",
    suite: "order",
    tries: 300,
    edits: [
      {
        file: "restore/plan-steps",
        text: "return groupTogether(deltas).flatMap((together) => interleave(together, direction));",
        instead: "return deltas.map((delta) => [...delta]);",
      },
    ],
  },
  {
    name: "a part of a step counts as the whole",
    suite: "model",
    tries: 200,
    edits: [
      {
        file: "steps/steps-way",
        text: "const isPart = plan.paths !== null || plan.hunks !== null",
        instead: "const isPart = false",
      },
    ],
  },
  {
    name: "an undo of one path takes the whole step back",
    suite: "order",
    tries: 100,
    edits: [
      {
        file: "steps/steps-way",
        text: "planner.add(delta.filter(isChosen), direction);",
        instead: "planner.add(delta, direction);",
      },
    ],
  },
  {
    name: "hunks are counted otherwise than they are shown",
    suite: "model",
    tries: 200,
    edits: [
      { file: "diff/choose-hunks", text: "const HUNK_CONTEXT = 3;", instead: "const HUNK_CONTEXT = 1;" },
    ],
  },
  {
    name: "chosen hunks bring the mode with them",
    suite: "model",
    tries: 400,
    edits: [
      {
        file: "restore/choose-hunks",
        text: 'const to = { kind: "file", mode: edit.from.mode,',
        instead: 'const to = { kind: "file", mode: edit.to.mode,',
      },
    ],
  },
  {
    name: "steps are undone in the order in which they began",
    suite: "order",
    tries: 300,
    edits: [
      {
        file: "history/step-rows",
        text: "ORDER BY s.position DESC, s.seq DESC LIMIT ?3",
        instead: "ORDER BY s.seq DESC LIMIT ?3",
      },
    ],
  },
  {
    name: "turns that are undone together count as each other's sharers",
    suite: "order",
    tries: 300,
    edits: [
      {
        file: "steps/select-steps",
        text: "(id) => !steps.some((step) => step.id === id) && states.includes",
        instead: "(id) => states.includes",
      },
    ],
  },
  {
    name: "a reader that stops half-way keeps its snapshot",
    suite: "order",
    tries: 300,
    edits: [{ file: "store/database", text: "rows.return?.();", instead: "" }],
  },
  {
    name: "steps of another working copy are undone here",
    suite: "copies",
    tries: 40,
    edits: [
      {
        file: "history/step-rows",
        text: "THEN s.from_branch ELSE s.branch END = ?4",
        instead: "THEN ?4 ELSE ?4 END = ?4",
      },
    ],
  },
  {
    name: "captures are compared with those of another working copy",
    suite: "copies",
    tries: 40,
    edits: [
      {
        file: "history/checkpoints",
        text: "WHERE seq = (SELECT head FROM branch WHERE id = ${BRANCH_HERE})",
        instead: "WHERE seq = (SELECT max(head) FROM branch WHERE id >= 0 OR id = ${BRANCH_HERE})",
      },
    ],
  },
];
