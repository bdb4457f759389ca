import type { ExportedFile } from "@belay/engine";
import { ANY_NUMBER, defineCommand } from "../call/command.ts";
import { workspacePaths } from "../call/workspace-path.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { ContractError, EXIT } from "@belay/protocol/errors";

export default defineCommand({
  usage: "files <checkpoint> [paths…] [--long]",
  about: [
    "Lists the files that a checkpoint holds: all of them, or those at, below and like the given paths and",
    "patterns (such as '*.ts'). `belay cat <checkpoint> <path>` prints one of them.",
  ].join("\n"),
  options: { long: { type: "boolean", short: "l", about: "also show permissions and sizes" } },
  operands: { min: 1, max: ANY_NUMBER },
  examples: ["belay files 12", "belay files @ src/ --long", "belay files @ '*.ts'"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const [ref = "", ...given] = call.operands;
      const { pathToBytes } = await import("@belay/engine");
      const { localReference } = await import("../command-parts/remote-reference.ts");
      const checkpoint = await workspace.resolve(await localReference(call, workspace, ref));
      const paths = workspacePaths(workspace, call.directory, given);
      const files: ExportedFile[] = [];
      for await (const file of workspace.files(checkpoint.id, paths))
        if (file.kind !== "directory") files.push(file);
      if (files.length === 0 && paths !== undefined)
        throw new ContractError(
          "PATH_NOT_IN_CHECKPOINT",
          `Checkpoint ${checkpoint.seq} has no file at ${given.join(" or ")}.`,
          { facts: { path: paths[0], checkpoint: checkpoint.id } },
        );
      if (call.json) {
        const { listField, withPathJson } = await import("@belay/server/json");
        const rows = files.map(({ path, kind, mode, size }) => withPathJson({ path, kind, mode, size }));
        call.output.json({ checkpoint: checkpoint.id, ...listField("files", rows) });
      } else if (call.options.long === true || call.output.isTerminal) {
        const { fileTable } = await import("../output/file-list.ts");
        call.output.print(fileTable(files, call.output, call.options.long === true));
      } else
        for (const { path } of files)
          if (!(await call.output.raw(Buffer.concat([pathToBytes(path), Buffer.from("\n")])))) break;
      return EXIT.done;
    }),
});
