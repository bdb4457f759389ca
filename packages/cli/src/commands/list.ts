import { printCheckpoints } from "../command-parts/checkpoint-list.ts";
import { defineCommand, THREAD } from "../call/command.ts";
import { usageError } from "@belay/protocol/errors";
import { askedLimit, LIMIT_OPTIONS } from "../call/limit-option.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { threadId } from "../call/thread-option.ts";

const KINDS = [
  "manual",
  "message",
  "tool",
  "agent",
  "turn",
  "initial",
  "safety",
  "restore",
  "approve",
  "reset",
  "auto-fix",
  "timer",
  "switch",
  "merge",
];

export default defineCommand({
  usage: "list [--limit n | --all] [--kind k] [--thread t] [--branch b] [--search text] [--fresh]",
  about: [
    "Checkpoints, newest first: number, id, age, kind, name or description, and how many files were added,",
    "modified and deleted since the one before.",
  ].join("\n"),
  options: {
    ...LIMIT_OPTIONS,
    kind: { type: "string", value: "kind", about: `only one kind: ${KINDS.join(", ")}` },
    thread: THREAD,
    branch: { type: "string", value: "branch", about: "the line of this branch instead of the present one" },
    search: {
      type: "string",
      value: "text",
      about: "only those with this text in their name, note, prompt or paths",
    },
    fresh: { type: "boolean", about: "compare with the disk and mark messages that changed files (•)" },
  },
  operands: { min: 0, max: 0 },
  examples: ["belay list --limit 5", "belay list --kind manual", "belay list --all --json"],
  run: (call) => {
    const { kind, search, branch } = call.options;
    const limit = askedLimit(call);
    if (kind !== undefined && !KINDS.includes(kind)) throw unknownKind(kind);
    return withWorkspace(call, async (workspace) => {
      const thread = await threadId(workspace, call.options.thread);
      const filter = {
        ...(kind && { kind }),
        ...(search && { search }),
        ...(thread && { thread }),
        ...(branch && { branch }),
      };
      const isFiltered = Object.keys(filter).length > 0;
      return printCheckpoints(call, workspace, {
        filter,
        fresh: call.options.fresh === true,
        limit,
        whenEmpty: isFiltered
          ? "No checkpoint matches. `belay list` shows all of them."
          : "No checkpoints yet: `belay checkpoint` takes one.",
      });
    });
  },
});

function unknownKind(kind: string): Error {
  return usageError(`Unknown kind "${kind}".`, `Kinds: ${KINDS.join(", ")}.`);
}
