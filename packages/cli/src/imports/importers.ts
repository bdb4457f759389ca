/** All programs whose data can be taken over from a directory. */
import { agentsmithy } from "./agentsmithy.ts";
import { codeBuddy } from "./code-buddy.ts";
import { ghost } from "./ghost.ts";
import type { Importer } from "./importer.ts";
import { mimir } from "./mimir.ts";
import { moldable } from "./moldable.ts";
import { supervisor } from "./supervisor.ts";

/** In the order in which a directory is compared with them. */
export const IMPORTERS: readonly Importer[] = [agentsmithy, mimir, codeBuddy, moldable, supervisor, ghost];
