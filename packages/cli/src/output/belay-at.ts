/** Commands as the person must type them here, for a directory that may be elsewhere. */
import { belayCommand } from "@belay/protocol/command-text";

/** `belay <words>`, with `-C <path>` unless the shell is in that directory. */
export function belayAt(path: string, ...words: string[]): string {
  return belayCommand(path, words, currentDirectory());
}

/** The current directory. An agent may have deleted it; its name is still known. */
export function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    const name = process.env["PWD"];
    if (name === undefined) throw error;
    return name;
  }
}
