/** Commands as they must be typed here, about a directory that may be elsewhere. */
import { belayCommand } from "@belay/protocol/command-text";

/** `belay <words>`, with `-C <path>` where the shell does not stand in that directory. */
export function belayAt(path: string, ...words: string[]): string {
  return belayCommand(path, words, currentDirectory());
}

/** An agent may have deleted the very directory this shell stands in: its name is still known. */
export function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    const name = process.env["PWD"];
    if (name === undefined) throw error;
    return name;
  }
}
