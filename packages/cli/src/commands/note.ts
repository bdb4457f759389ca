import { annotate } from "../command-parts/annotation.ts";
import { ANY_NUMBER, defineCommand } from "../call/command.ts";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "note <checkpoint> <text>",
  about: "Writes a note on a checkpoint, replacing any earlier one. `belay search <text>` finds notes.",
  options: {},
  operands: { min: 2, max: ANY_NUMBER },
  examples: [`belay note @ "the last one that worked"`],
  run: (call) => {
    const [ref = "", ...words] = call.operands;
    const told = (note: string | null) => (note ? `noted "${visible(note)}"` : "its note was removed");
    return annotate(
      call,
      (workspace) => workspace.note(ref, words.join(" ")),
      ({ note }) => told(note),
    );
  },
});
