import { defineCommand, type Call } from "../call/command.ts";
import { EXIT, usageError } from "@belay/protocol/errors";
import { nearest } from "../call/nearest.ts";
import { table } from "../output/table.ts";
import { size } from "@belay/tui/text";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "config [key] [value | --unset]",
  about: [
    "Settings and where they come from: the default, config.json in Belay's home, or what that file has below",
    "`workspaces.<id>` for the workspace here, which goes before the rest. With a key: that one.",
    "With a value: sets it, for all workspaces. Sizes may be written 64MiB or 2GiB. `notices.desktop on` shows a notice when a",
    "capture failed or came late, and when an agent finished a turn.",
  ].join("\n"),
  options: { unset: { type: "boolean", about: "go back to the default" } },
  operands: { min: 0, max: 2 },
  examples: ["belay config", "belay config limits.fileBytes 256MiB", "belay config disk.capBytes --unset"],
  run: async (call) => {
    const { listSettings, writeSetting } = await import("@belay/engine");
    const own = await settingsHere(call);
    const [key, value] = call.operands;
    const unset = call.options.unset === true;
    if (unset && (key === undefined || value !== undefined))
      throw usageError("--unset takes a key and no value.", "Usage: belay config <key> --unset");
    const keys = listSettings(call.home).map((setting) => setting.key);
    if (key !== undefined) checkKey(key, keys);
    if (key !== undefined && (unset || value !== undefined))
      writeSetting(call.home, key, unset ? null : (value ?? null));
    const settings = listSettings(call.home).map((each) => own.find((it) => it.key === each.key) ?? each);
    printSettings(
      call,
      settings.filter((setting) => key === undefined || setting.key === key),
    );
    return EXIT.done;
  },
});

interface Setting {
  readonly key: string;
  readonly value: number | string;
  readonly source: string;
}

/** What the file says about the workspace around the current directory alone. */
async function settingsHere({ home, directory }: Pick<Call, "home" | "directory">): Promise<Setting[]> {
  const { listOwnSettings, protectedCopies } = await import("@belay/engine");
  const [around] = protectedCopies({ home })
    .filter(({ path }) => `${directory}/`.startsWith(`${path}/`))
    .toSorted((a, b) => b.path.length - a.path.length);
  return around === undefined ? [] : listOwnSettings(home, around.id);
}

function checkKey(key: string, keys: readonly string[]): void {
  if (keys.includes(key)) return;
  const close = nearest(key, keys);
  const hint = close === undefined ? `Settings: ${keys.join(", ")}.` : `Did you mean ${close}?`;
  throw usageError(`Unknown setting "${key}". Nothing was changed.`, hint);
}

function printSettings(call: Pick<Call, "json" | "output">, settings: readonly Setting[]): void {
  if (call.json) {
    call.output.json({ settings });
    return;
  }
  const { style, width } = call.output;
  const rows = settings.map(({ key, value, source }) => [
    { text: key, paint: style.bold },
    { text: visible(String(value)) },
    { text: key.endsWith("Bytes") ? size(Number(value)) : "", paint: style.dim },
    { text: source, paint: style.dim },
  ]);
  // on narrow terminals, first the readable size goes, then the source
  call.output.print(table(rows, { width, dispensable: [2, 3] }));
}
