/** The work that most stories begin with. */
import type { ServedProject } from "../../../server/test/support/served-project.ts";
import { Agent } from "./agent.ts";

export const FILES = {
  "src/a.ts": "export const a = 1;\n",
  "src/b.ts": "export const b = 1;\n",
  "README.md": "# Read me\n",
};

/** Two turns of one agent: the second changes, makes and deletes. */
export async function twoTurns(project: ServedProject): Promise<void> {
  const agent = await Agent.start(project);
  await agent.turn("Use idempotency keys", { "src/a.ts": "export const a = 2;\n" });
  await agent.turn(
    "Add retry with backoff",
    { "src/a.ts": "export const a = 3;\n" },
    { "src/new.ts": "export const made = true;\n" },
    { "src/b.ts": null },
  );
}

/** Before the first turn. */
export const FIRST = {
  "src/a.ts": "export const a = 1;\n",
  "src/b.ts": "export const b = 1;\n",
  "src/new.ts": undefined,
};
/** Between the turns. */
export const SECOND = { ...FIRST, "src/a.ts": "export const a = 2;\n" };
/** After both. */
export const THIRD = {
  "src/a.ts": "export const a = 3;\n",
  "src/b.ts": undefined,
  "src/new.ts": "export const made = true;\n",
};
