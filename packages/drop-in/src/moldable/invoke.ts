/** The desktop shell's way to call commands: by name, with arguments in camelCase. */
import {
  cleanup_checkpoints,
  create_checkpoint,
  delete_app_checkpoints,
  get_manifest,
  get_snapshot,
  list_checkpoints,
  restore_checkpoint,
} from "./commands.ts";

type Args = Readonly<Record<string, unknown>>;

const COMMANDS: Readonly<Record<string, (args: Args) => Promise<unknown>>> = {
  create_checkpoint: (args) =>
    create_checkpoint(
      text(args, "appId"),
      text(args, "appDir"),
      text(args, "conversationId"),
      text(args, "messageId"),
    ),
  list_checkpoints: (args) => list_checkpoints(text(args, "appId"), text(args, "conversationId")),
  restore_checkpoint: (args) =>
    restore_checkpoint(text(args, "appId"), text(args, "conversationId"), text(args, "messageId")),
  cleanup_checkpoints: (args) =>
    cleanup_checkpoints(text(args, "appId"), text(args, "conversationId"), count(args, "keepLastN")),
  delete_app_checkpoints: (args) => delete_app_checkpoints(text(args, "appId")),
  get_manifest: (args) => get_manifest(text(args, "appId"), text(args, "conversationId")),
  get_snapshot: (args) =>
    get_snapshot(text(args, "appId"), text(args, "conversationId"), text(args, "messageId")),
};

/** Calls a command. Arguments that it does not know, such as `modifiedFiles`, are ignored. */
export async function invoke<Result>(command: string, args: Record<string, unknown>): Promise<Result> {
  const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (run === undefined) throw new Error(`There is no command ${command}.`);
  return (await run(args)) as Result;
}

function text(args: Args, name: string): string {
  const value = args[name];
  if (typeof value === "string") return value;
  throw new Error(`The argument ${name} is missing.`);
}

function count(args: Args, name: string): number {
  const value = args[name];
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw new Error(`The argument ${name} must be a whole number.`);
}
