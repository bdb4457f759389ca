import { defineCommand, YES } from "../command.ts";
import { confirm, declined } from "../confirmation.ts";
import { EXIT } from "../exit-code.ts";
import { visible } from "../output/visible.ts";
import { withWorkspace } from "../open-workspace.ts";

export default defineCommand({
  usage: "uninstall [--purge] [--yes]",
  about: [
    "Stops protecting this directory. The files stay as they are, and so do the checkpoints: `belay init`",
    "or `belay attach` brings them back. --purge also deletes the store, which cannot be undone.",
  ].join("\n"),
  options: { purge: { type: "boolean", about: "delete all checkpoints for good" }, yes: YES },
  operands: { min: 0, max: 0 },
  run: async (call) => {
    const purge = call.options.purge === true;
    const question = { root: "", checkpoints: 0 };
    // opened to know what is at stake, and closed again before it goes
    await withWorkspace(call, async (workspace) => {
      const status = await workspace.status();
      Object.assign(question, { root: status.root, checkpoints: status.checkpoints });
      return EXIT.done;
    });
    const ask = `Delete all ${question.checkpoints} checkpoints of ${visible(question.root)} for good?`;
    if (purge && call.options.yes !== true && !(await confirm(call, ask))) return declined(call);
    const { removeWorkspace } = await import("@belay/engine");
    const removed = await removeWorkspace(question.root, { home: call.home, purge });
    if (call.json)
      call.output.json({
        workspace: removed.id,
        path: removed.path,
        store: removed.store,
        purged: removed.purged,
      });
    else call.output.print(removedText(removed));
    return EXIT.done;
  },
});

function removedText(removed: { id: string; path: string; store: string; purged: boolean }): string {
  const path = visible(removed.path);
  if (removed.purged) return `${path} is no longer protected; its store is deleted. The files are untouched.`;
  return `${path} is no longer protected. The files are untouched, its checkpoints stay in ${visible(removed.store)}.\n→ \`belay attach ${removed.id}\` protects it again.`;
}
