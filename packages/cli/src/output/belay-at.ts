/** Commands as the person must type them here, for a directory that may be elsewhere. */
import { belayCommand } from "@belay/protocol/command-text";
import { ContractError } from "@belay/protocol/errors";

/** `belay <words>`, with `-C <path>` unless the shell is in that directory. */
export function belayAt(path: string, ...words: string[]): string {
  return belayCommand(path, words, currentDirectory());
}

/** The current directory. An agent may have deleted it; its name is still known. */
export function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    const name = process.env["PWD"] ?? "";
    if (name === "") throw nameless(error);
    return name;
  }
}

/** Whether the shell stands in a directory that was deleted: also when one of its name is there again. */
export function isCurrentDirectoryGone(): boolean {
  try {
    process.cwd();
    return false;
  } catch {
    return true;
  }
}

function nameless(cause: unknown): ContractError {
  const message = "The current directory was deleted, and nothing here tells its name. Nothing was changed.";
  const hint =
    "Go to another one with `cd`; `belay workspaces` lists what is protected, also what is gone, and `belay -C <directory> restore @` brings it back.";
  return Object.assign(new ContractError("FILE_SYSTEM", message, { hint }), { cause });
}
