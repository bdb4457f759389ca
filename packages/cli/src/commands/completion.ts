import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { COMPLETION_SCRIPTS, SCRIPT_MARK, SHELLS, type Shell } from "../command-parts/completion-scripts.ts";
import { defineCommand, YES } from "../call/command.ts";
import { userHome } from "../call/user-home.ts";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "completion <bash | zsh | fish> [--install] [--yes]",
  about: [
    "Prints the script with which a shell completes commands, options, checkpoints, rows, tags, threads and paths.",
    "--install writes it where the shell looks for it.",
  ].join("\n"),
  options: {
    install: { type: "boolean", about: "write the script where the shell looks for it" },
    yes: { ...YES, about: "overwrite a file that Belay did not write" },
  },
  operands: { min: 1, max: 1 },
  examples: ["belay completion bash --install", 'eval "$(belay completion bash)"'],
  run: async (call) => {
    const shell = SHELLS.find((each) => each === call.operands[0]);
    if (shell === undefined)
      throw usageError(`There is no completion for "${call.operands[0]}".`, `Shells: ${SHELLS.join(", ")}.`);
    const script = COMPLETION_SCRIPTS[shell];
    if (call.options.install !== true) {
      call.output.content(script.trimEnd());
      return EXIT.done;
    }
    const { path, hint } = placeOf(shell, call.environment);
    refuseOthers(path, call.options.yes === true);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, script);
    if (call.json) call.output.json({ shell, path });
    else call.output.print(`Written to ${visible(path)}.\n${hint}`);
    return EXIT.done;
  },
});

/** Where the shell looks, and what is left to the user. */
function placeOf(
  shell: Shell,
  environment: NodeJS.ProcessEnv,
): { readonly path: string; readonly hint: string } {
  const data = environment["XDG_DATA_HOME"] || join(userHome(), ".local", "share");
  const settings = environment["XDG_CONFIG_HOME"] || join(userHome(), ".config");
  const start = "New shells complete `belay`.";
  switch (shell) {
    case "bash": {
      const own = environment["BASH_COMPLETION_USER_DIR"] || join(data, "bash-completion");
      const path = join(own, "completions", "belay");
      return {
        path,
        hint: `${start} It needs the package bash-completion; without it, add to ~/.bashrc: . ${visible(path)}`,
      };
    }
    case "zsh": {
      const directory = join(data, "zsh", "site-functions");
      return {
        path: join(directory, "_belay"),
        hint: `Before compinit, ~/.zshrc needs: fpath+=(${visible(directory)})`,
      };
    }
    case "fish":
      return { path: join(settings, "fish", "completions", "belay.fish"), hint: start };
  }
}

function refuseOthers(path: string, isConfirmed: boolean): void {
  if (isConfirmed || !existsSync(path) || readFileSync(path, "utf8").includes(SCRIPT_MARK)) return;
  throw new ContractError(
    "OUTPUT_EXISTS",
    `${visible(path)} exists and is not Belay's. Nothing was written.`,
    {
      hint: "--yes overwrites it.",
      facts: { path },
    },
  );
}
