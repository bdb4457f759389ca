import { join } from "node:path";
import { defineCommand, type Call } from "../call/command.ts";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { nearest } from "../call/nearest.ts";
import { table } from "../output/table.ts";
import { size } from "@belay/tui/text";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "config [key] [value | --unset] [--here]",
  about: [
    "Settings and where they come from: the default, config.json in Belay's home, or what that file has below",
    "`workspaces.<id>` for the workspace here, which goes before the rest. With a key: that one.",
    "With a value: sets it, for all workspaces, or with --here for this one. Sizes may be written 64MiB or 2GiB.",
    "`notices.desktop on` shows a notice when a capture failed or came late, and when an agent finished a turn.",
  ].join("\n"),
  options: {
    unset: { type: "boolean", about: "go back to the default" },
    here: {
      type: "boolean",
      about: "set it, or go back to what holds for all, for the workspace here alone",
    },
  },
  operands: { min: 0, max: 2 },
  examples: [
    "belay config",
    "belay config limits.fileBytes 256MiB",
    "belay config forks.limit 4 --here",
    "belay config disk.capBytes --unset",
  ],
  run: async (call) => {
    const { listSettings, listOwnSettings, settingKeys } = await import("@belay/engine");
    const around = await workspaceHere(call);
    const [key, value] = call.operands;
    const { unset = false, here = false } = call.options;
    if (unset && (key === undefined || value !== undefined))
      throw usageError("--unset takes a key and no value.", "Usage: belay config <key> --unset");
    if (here && !unset && value === undefined)
      throw usageError(
        "--here takes a key and a value, or a key and --unset.",
        "`belay config` lists what holds here, and where it comes from.",
      );
    if (key !== undefined) checkKey(key, settingKeys(), call.home);
    if (key !== undefined && (unset || value !== undefined))
      await write(call, { key, value: unset ? null : (value ?? null), workspace: here ? around : null });
    // what was just written is not said to be unchanged because another value in the file is wrong
    const own = around === undefined ? [] : listOwnSettings(call.home, around, key);
    const settings = listSettings(call.home, key).map(
      (each) => own.find((it) => it.key === each.key) ?? each,
    );
    printSettings(call, settings);
    return EXIT.done;
  },
});

interface Setting {
  readonly key: string;
  readonly value: number | string;
  readonly source: string;
}

/** The id of the workspace around the current directory. */
async function workspaceHere({
  home,
  directory,
}: Pick<Call, "home" | "directory">): Promise<string | undefined> {
  const { protectedCopies } = await import("@belay/engine");
  const [around] = protectedCopies({ home })
    .filter(({ path }) => `${directory}/`.startsWith(`${path}/`))
    .toSorted((a, b) => b.path.length - a.path.length);
  return around?.id;
}

/** `workspace`: null for all of them. */
async function write(
  { home, directory }: Pick<Call, "home" | "directory">,
  setting: { key: string; value: string | null; workspace: string | null | undefined },
): Promise<void> {
  const { writeOwnSetting, writeSetting } = await import("@belay/engine");
  const { key, value, workspace } = setting;
  if (workspace === null) writeSetting(home, key, value);
  else if (workspace !== undefined) writeOwnSetting(home, workspace, { key, value });
  else
    throw new ContractError("WORKSPACE_NOT_FOUND", `${directory} is not protected. Nothing was changed.`, {
      hint: "`belay config <key> <value>` without --here sets it for all workspaces.",
      facts: { path: directory },
    });
}

function checkKey(key: string, keys: readonly string[], home: string): void {
  if (keys.includes(key)) return;
  if (WRITTEN_BY_HAND.test(key)) throw writtenByHand(key, home);
  const close = nearest(key, keys);
  const hint = close === undefined ? `Settings: ${keys.join(", ")}.` : `Did you mean ${close}?`;
  throw usageError(`Unknown setting "${key}". Nothing was changed.`, hint);
}

/** What names programs, and what these may do. */
const WRITTEN_BY_HAND = /^(agents|agentOrchestration|merge|reviews|runs)\./;

function writtenByHand(key: string, home: string): Error {
  const nested = key.split(".").reduceRight((inner, word) => `{ ${JSON.stringify(word)}: ${inner} }`, "…");
  return usageError(
    `"${key}" is about programs that Belay starts, and is written by hand. Nothing was changed.`,
    `In ${join(home, "config.json")}: ${nested}`,
  );
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
