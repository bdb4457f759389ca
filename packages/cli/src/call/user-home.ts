/** The user's home directory, where agents keep their settings and Belay its store by default. */
import { homedir } from "node:os";

/** A user whom the system does not know by name, as in a container, and who has no `HOME`, has none: `/` stands for it. */
export function userHome(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}
