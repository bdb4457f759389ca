/** The files of a clone: placed at once where the directory is empty, and like any restore where it is not. */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { receiveWorkspace } from "@belay/engine";
import { expect, test } from "vitest";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { cloneLine } from "../src/sync/clone-line.ts";
import { checkpointsOf, filesBelow, Machine } from "./support/machines.ts";

async function pushed(store: MemoryRemoteStore): Promise<Machine> {
  const ana = new Machine(() => store);
  ana.write({
    "src/deep/a.ts": "one\n",
    "big.bin": randomBytes(2_500_000),
    "hole.bin": Buffer.alloc(3 * 1024 * 1024),
    "empty.txt": "",
    run: "#!/bin/sh\n",
  });
  chmodSync(join(ana.root, "run"), 0o755);
  mkdirSync(join(ana.root, "nothing/in/it"), { recursive: true });
  symlinkSync("src/deep/a.ts", join(ana.root, "link"));
  await (await ana.init()).add();
  await ana.push();
  // a second parcel
  ana.write({ "src/deep/b.ts": "two\n", "more.bin": randomBytes(1_200_000) });
  await ana.workspace.checkpoint();
  await ana.push();
  return ana;
}

/** Clones with its files; `meanwhile` is called when the history has arrived, and before the files are placed. */
async function cloned(ana: Machine, meanwhile: (root: string) => void = () => undefined) {
  const bob = new Machine(ana.host.connect.bind(undefined, ""), "bob");
  const { home, root } = bob;
  const request = {
    url: "s3://bucket/team",
    name: "team",
    directory: root,
    recoveryKey: ana.recoveryKey,
  };
  const { workspace, hasFiles, bytes } = await cloneLine(request, bob.host, (fill) =>
    receiveWorkspace(
      root,
      async (receiver) => {
        await fill(receiver);
        meanwhile(root);
      },
      { home, withFiles: true },
    ),
  );
  bob.workspace = workspace;
  Machine.atEnd(() => workspace.close());
  return { bob, hasFiles, bytes };
}

test("[R2050] the files of a clone are those of its newest checkpoint, and its history is that of the line", async () => {
  const store = new MemoryRemoteStore();
  const ana = await pushed(store);
  const { bob, hasFiles, bytes } = await cloned(ana);
  expect(hasFiles).toBe(true);
  expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
  expect(readdirSync(bob.root).toSorted()).toEqual(readdirSync(ana.root).toSorted());
  expect(readlinkSync(join(bob.root, "link"))).toBe("src/deep/a.ts");
  expect(statSync(join(bob.root, "nothing/in/it")).isDirectory()).toBe(true);
  expect(await checkpointsOf(bob)).toEqual(await checkpointsOf(ana));
  // every byte of the line arrived, and is counted
  const sizes = [...store.objects].filter(([key]) => /\/[bl]\//.test(key)).map(([, one]) => one.bytes.length);
  expect(bytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
  expect((await bob.workspace.checkpoint()).unchanged).toBe(true);
  expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  // what comes later is undone like anywhere else
  bob.write({ "later.txt": "later\n" });
  await bob.workspace.checkpoint();
  await bob.workspace.restoreTo("@-1");
  expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
});

test("[R2050, N0] what comes into the directory meanwhile is kept, and an ordinary restore brings the files", async () => {
  const store = new MemoryRemoteStore();
  const ana = await pushed(store);
  const { bob, hasFiles } = await cloned(ana, (root) => writeFileSync(join(root, "mine.txt"), "mine\n"));
  expect(hasFiles).toBe(false);
  expect(filesBelow(bob.root)).toEqual({ "mine.txt": expect.stringContaining("420 ") });
  expect((await bob.workspace.restoreTo("@")).outcome).toBe("applied");
  const { "mine.txt": mine, ...rest } = filesBelow(bob.root);
  expect(Buffer.from(mine!.split(" ")[1]!, "base64").toString()).toBe("mine\n");
  expect(rest).toEqual(filesBelow(ana.root));
  expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
});
