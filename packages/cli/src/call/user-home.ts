/** The user's home directory, where agents keep their settings and Belay its store by default. */
import { homedir } from "node:os";

/** A user without a name and without `HOME`, as in some containers, has no home directory: `/` stands in. */
export function userHome(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}
