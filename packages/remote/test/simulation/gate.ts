/** What scenes are directed with: requests that are held back until the worst moment, and sweeps in between. */
import { openSpace } from "../../src/space/space.ts";
import { sweepSpace } from "../../src/sync/sweep.ts";
import { MachineDied } from "./network.ts";
import { CALM, type World } from "./world.ts";

/** `removing` keeps back what it deletes; one that dies deletes nothing. Another collector may have been quicker. */
export async function sweep(world: World, saying?: Gate, removing: Gate | boolean = false): Promise<void> {
  const store = world.connect(CALM, saying?.hold);
  const remove = store.remove.bind(store);
  store.remove = async (keys) => {
    if (removing === true) throw new MachineDied();
    if (removing instanceof Gate) await removing.hold("remove");
    await remove(keys);
  };
  try {
    const space = await openSpace(store, world.space.id, world.keys, world.space);
    await sweepSpace(space, { keys: world.keys, random: world.bytes, isDryRun: false });
  } catch (error) {
    if (!(error instanceof MachineDied) && (error as { code?: string }).code !== "STORE_BUSY") throw error;
  }
}

/** Holds the PUT of a key, or of one that begins so, until it is opened. */
export class Gate {
  readonly reached: Promise<void>;
  readonly hold: (key: string) => Promise<void>;
  open!: () => void;

  constructor(key: string) {
    const opened = new Promise<void>((resolve) => (this.open = resolve));
    let reach!: () => void;
    this.reached = new Promise((resolve) => (reach = resolve));
    this.hold = async (asked) => {
      if (!asked.startsWith(key)) return;
      reach();
      await opened;
    };
  }
}
