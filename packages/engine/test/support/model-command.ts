/** One command of the model test. */
import type { TempWorkspace } from "./temp-workspace.ts";
import type { WorkspaceModel } from "./workspace-model.ts";

/** Does it and may say what came of it, for the report of a failure. */
export type Run = (model: WorkspaceModel, temp: TempWorkspace) => Promise<string | void>;

export interface Command {
  run(model: WorkspaceModel, temp: TempWorkspace): Promise<void>;
  /** With what it said when it last ran. */
  toString(): string;
}

export function command(name: string, run: Run): Command {
  let said = "";
  return {
    toString: () => `\n${name}: ${JSON.stringify(said).replaceAll(/x{255}/g, "x…x")}`,
    async run(model, temp) {
      const result: unknown = await run(model, temp);
      said = typeof result === "string" ? result : "";
    },
  };
}

/** One of the model's snapshots by a number of any size. */
export function pickSnapshot(model: WorkspaceModel, choice: number): string {
  return [...model.snapshots.keys()][choice % model.snapshots.size]!;
}

/** Paths are given as text: one that is not UTF-8 can only be restored with the rest. */
export function pickPath(paths: readonly string[], choice: number): string | undefined {
  const writable = paths.filter((path) => Buffer.from(textOf(path), "utf8").toString("latin1") === path);
  return writable[choice % writable.length];
}

export function textOf(path: string): string {
  return Buffer.from(path, "latin1").toString("utf8");
}
