/** Where Belay keeps everything of a user. */
import { join, resolve } from "node:path";
import type { Surroundings } from "./surroundings.ts";
import { userHome } from "./user-home.ts";

/** The home that a call uses: `--home`, else `$BELAY_HOME`, else `~/.belay`. */
export function belayHome(
  option: string | undefined,
  { directory, environment }: Pick<Surroundings, "directory" | "environment">,
): string {
  return resolve(directory, option ?? (environment["BELAY_HOME"] || join(userHome(), ".belay")));
}
