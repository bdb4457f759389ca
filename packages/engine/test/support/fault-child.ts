/** One operation in a process of its own, for a fault to hit. Prints what came of it as one line of JSON. */
import { createSystem, openWorkspace, type Workspace } from "../../src/index.ts";

const system = createSystem();
let passedHours = 0;

const OPERATIONS: Readonly<Record<string, (workspace: Workspace) => Promise<unknown>>> = {
  open: async () => "opened",
  create: async (workspace) => void (await workspace.checkpoint()),
  restore: async (workspace) => (await workspace.restoreTo("1")).outcome,
  undo: async (workspace) => (await workspace.undo()).outcome,
  approve: async (workspace) => void (await workspace.approve((await workspace.threads())[0]!.id)),
  reset: async (workspace) => (await workspace.reset((await workspace.threads())[0]!.id)).outcome,
  async gc(workspace) {
    await workspace.prune({
      policy: { name: "none", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: 0 },
    });
    passedHours = 25;
    await workspace.gc();
  },
};

const [operation, root, home] = process.argv.slice(2) as [string, string, string];

try {
  const now = () => system.now() + passedHours * 3_600_000;
  const workspace = await openWorkspace(root, { home, system: { ...system, now } });
  const outcome = await OPERATIONS[operation]!(workspace);
  // said only now: what is reported as done must be true from here on
  process.stdout.write(`${JSON.stringify({ done: true, outcome })}\n`);
  await workspace.close();
} catch (error) {
  const { name, message, code } = error as NodeJS.ErrnoException;
  process.stdout.write(`${JSON.stringify({ done: false, name, code, message })}\n`);
}
