/** What the next command does after a crash: a fork that was being made is taken back, one that was being removed goes on. */
import type { Context } from "../capture/context.ts";
import { isForkUnderWay, listForks, type ForkRow } from "../history/forks.ts";
import type { System } from "../model/system.ts";
import type { Forking } from "./forking.ts";
import { takeBack } from "./make-fork.ts";
import { goOnRemoving } from "./remove-fork.ts";

/** Finishes what a killed process left of forks; returns sentences for the user. */
export function recoverForks(context: Context, forking: () => Forking): string[] {
  const { store, system } = context;
  if (store.db.readOnly || !isForkUnderWay(store.db)) return [];
  const notices: string[] = [];
  for (const row of listForks(store.db)) {
    if (row.state === "making" && isAbandoned(row, system)) {
      takeBack(context, forking(), row.workingCopy);
      notices.push(`The fork "${row.name}" was only half made when its process ended, and was removed.`);
    }
    if (row.state === "removing") goOnRemoving(context, forking(), row);
  }
  return notices;
}

/** This process opens the fork that it is making. */
function isAbandoned({ owner }: ForkRow, system: System): boolean {
  if (owner === undefined) return true;
  const isOurs = owner.pid === system.owner.pid && owner.started === system.owner.started;
  return !isOurs && !system.isAlive(owner);
}
