import { defineCommand } from "../call/command.ts";
import { EXIT, usageError } from "@belay/protocol/errors";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage: "open <remote>/<reference>",
  about: [
    "Fetches a checkpoint of another machine and shows it: team/ana@mac/@ is the newest of that line, team/ana@mac/@-2 two",
    "before it, team/<tag> and team/<id> are found in all lines. Your files are left alone. `belay diff`, `restore`,",
    "`revert`, `cat`, `files` and `show` take the same references. What was fetched is kept for 30 days after its last use.",
  ].join("\n"),
  options: {},
  operands: { min: 1, max: 1 },
  exits: {
    4: "no line of the remote has such a checkpoint",
    5: "the remote is damaged, incomplete, or was rolled back",
    8: "the remote cannot be used now",
  },
  examples: ["belay open team/ana@mac/@"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const [reference = ""] = call.operands;
      const { localReference } = await import("../command-parts/remote-reference.ts");
      const id = await localReference(call, workspace, reference);
      if (id === reference)
        throw usageError(
          `"${reference}" names no remote of this workspace.`,
          "Write <remote>/<line>/@ or <remote>/<id>; `belay remote list` shows the remotes.",
        );
      const { showCheckpoint } = await import("./show.ts");
      await showCheckpoint(call, workspace, id);
      return EXIT.done;
    }),
});
