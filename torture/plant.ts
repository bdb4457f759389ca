/** Loaded before anything else by a process that is to run with a planted bug: changes the engine's code as it is read. */
import { registerHooks } from "node:module";
import { PLANTED_BUGS, type Planting } from "./planted-bugs.ts";

const PACKAGES = new URL("../packages/", import.meta.url).href;
/** Where the command has the engine: in several files, and a text that is not planted in any goes unnoticed. */
const BUNDLE = new URL("../packages/cli/dist/engine-", import.meta.url).href;
const name = process.env["BELAY_PLANTED_BUG"];
const bug = PLANTED_BUGS.find((each) => each.name === name);
if (bug === undefined) throw new Error(`There is no planted bug called ${name}.`);

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const isBundle = url.startsWith(BUNDLE);
    const edits = bug.edits.filter(
      ({ file, package: inPackage = "engine" }) =>
        isBundle || url === `${PACKAGES}${inPackage}/src/${file}.ts`,
    );
    if (edits.length === 0) return loaded;
    const source = textOf(loaded.source);
    const fitting = isBundle ? edits.filter(({ text }) => source.includes(text)) : edits;
    return { ...loaded, source: plant(source, fitting) };
  },
});

function textOf(source: unknown): string {
  return typeof source === "string" ? source : Buffer.from(source as Uint8Array).toString("utf8");
}

function plant(source: string, edits: readonly Planting[]): string {
  return edits.reduce((text, edit) => {
    if (!text.includes(edit.text)) throw new Error(`There is no place for the bug: ${edit.text}`);
    return text.replace(edit.text, () => edit.instead);
  }, source);
}
