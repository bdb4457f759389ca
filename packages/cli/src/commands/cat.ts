import { defineCommand } from "../call/command.ts";
import { workspacePath } from "../call/workspace-path.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { EXIT, usageError } from "@belay/protocol/errors";

export default defineCommand({
  usage: "cat <checkpoint> <path>",
  about: [
    "Prints a file as it was at a checkpoint, byte for byte. The files on disk are left alone. Of a",
    "symbolic link it prints the target. Binary content goes into a pipe or a file, not onto a terminal.",
  ].join("\n"),
  options: {},
  operands: { min: 2, max: 2 },
  examples: ["belay cat 12 src/parser.ts", "belay cat @-2 README.md > README.before"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const { findFile } = await import("../command-parts/find-file.ts");
      const [ref = "", given = ""] = call.operands;
      const { localReference } = await import("../command-parts/remote-reference.ts");
      const checkpoint = await workspace.resolve(await localReference(call, workspace, ref));
      const path = workspacePath(workspace, call.directory, given);
      const file = await findFile(workspace, checkpoint, path);
      if (call.json) {
        const { fileContentJson } = await import("@belay/server/json");
        call.output.json({ checkpoint: checkpoint.id, ...fileContentJson(file) });
      } else if (!call.output.isTerminal) await call.output.raw(file.content);
      else if (file.content.includes(0))
        throw usageError(
          `${given} is binary and cannot be shown on a terminal.`,
          `Write it to a file: belay cat ${ref} ${given} > <file>`,
        );
      else {
        const { visibleLines } = await import("@belay/tui/text");
        call.output.content(visibleLines(file.content.toString("utf8").replace(/\n$/, "")));
      }
      return EXIT.done;
    }),
});
