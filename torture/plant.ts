/** Loaded before anything else by a process that is to run with a planted bug: changes the engine's source as it is read. */
import { registerHooks } from "node:module";
import { PLANTED_BUGS } from "./planted-bugs.ts";

const SOURCE = new URL("../packages/engine/src/", import.meta.url).href;
const name = process.env["BELAY_PLANTED_BUG"];
const bug = PLANTED_BUGS.find((each) => each.name === name);
if (bug === undefined) throw new Error(`There is no planted bug called ${name}.`);

registerHooks({
  // the command line uses the engine as it is built; here it uses the source as well
  resolve: (specifier, context, next) =>
    next(specifier === "@belay/engine" ? `${SOURCE}index.ts` : specifier, context),
  load(url, context, next) {
    const loaded = next(url, context);
    const edits = bug.edits.filter(({ file }) => url === `${SOURCE}${file}.ts`);
    if (edits.length === 0) return loaded;
    let source = Buffer.from(loaded.source as Uint8Array).toString("utf8");
    for (const { text, instead } of edits) source = source.replace(text, () => instead);
    return { ...loaded, source };
  },
});
