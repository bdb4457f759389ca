/** A full disk, with the resident process running: what needs no space still works, and what fails says what it did. */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { canMount, mountSmall, unmount } from "../../engine/test/support/project.ts";
import { Sandbox } from "./sandbox.ts";

const KIB = 1024;

describe.skipIf(!canMount).for([true, false])("a full disk, resident process: %s", (hasResident) => {
  let sandbox: Sandbox;
  const secret = randomBytes(40 * KIB);

  beforeEach(async () => {
    sandbox = new Sandbox({ "a.txt": "one\n" });
    mkdirSync(sandbox.home, { mode: 0o700 });
    mountSmall(sandbox.home, "24m");
    chmodSync(sandbox.home, 0o700);
    vi.stubEnv("BELAY_RESIDENT", hasResident ? "" : "off");
    await sandbox.protect();
    if (hasResident) sandbox.ok("start");
    writeFileSync(sandbox.path("secret.bin"), secret);
    sandbox.ok("checkpoint");
    sandbox.ok("run", "--", "sh", "-c", "echo 1 > made.txt; mkdir made; echo 2 > made/deep.txt");
    for (let index = 0; ; index += 1) {
      writeFileSync(sandbox.path("noise.bin"), randomBytes(600 * KIB));
      if (sandbox.belay(["checkpoint"]).status !== 0) break;
      expect(index).toBeLessThan(40);
    }
    sandbox.write("noise.bin", "");
    fill();
  });

  afterEach(() => {
    sandbox.belay(["stop"]);
    vi.unstubAllEnvs();
    unmount(sandbox.home);
    sandbox[Symbol.dispose]();
  });

  /** Takes what room is left, as any other program might. */
  function fill(): void {
    const { bavail, bsize } = statfsSync(sandbox.home);
    const name = join(sandbox.home, `filler-${readdirSync(sandbox.home).length}`);
    writeFileSync(name, Buffer.alloc(bavail * bsize));
  }

  const storeFiles = () => {
    const { store } = sandbox.json(["status"]);
    return readdirSync(store).map((name) => join(store, name));
  };

  /** True when the bytes are anywhere in the files of the store. */
  const isStored = (marker: Buffer) =>
    storeFiles().some(
      (file) => !file.endsWith("cookies") && readFileSync(file).includes(marker.subarray(64, 128)),
    );

  function makeRoom(): void {
    for (const name of readdirSync(sandbox.home).filter((each) => each.startsWith("filler")))
      rmSync(join(sandbox.home, name));
  }

  test("[R162] gc and prune do not use the reserve up: every command works afterwards, again and again", async () => {
    for (let round = 0; round < 4; round += 1) {
      for (const command of [["gc", "--yes"], ["prune", "--yes"], ["status"], ["list"], ["doctor"]]) {
        const { status, stderr } = sandbox.belay(command);
        expect([command, status, stderr]).toEqual([
          command,
          status === 1 && command[0] === "doctor" ? 1 : 0,
          stderr,
        ]);
        fill();
      }
    }
    makeRoom();
    await sandbox.verify();
  });

  test("[R163] an undo that only takes files away works, and its redo says that there is no room or works", async () => {
    sandbox.ok("undo", "--yes");
    expect([sandbox.read("made.txt"), sandbox.read("made/deep.txt")]).toEqual([undefined, undefined]);
    fill();
    const { status, stderr } = sandbox.belay(["redo", "--yes"]);
    expect(sandbox.read("made.txt")).toBe(status === 0 ? "1\n" : undefined);
    if (status !== 0) expect(stderr).toMatch(/space/);
    makeRoom();
    await sandbox.verify();
  });

  test("[R164] forget did what it says: all of it, nothing, or all but overwriting, which gc then does", async () => {
    const checkpoints = () => sandbox.belay(["forget", "secret.bin", "--dry-run"]).status;
    // without the reserve, and with less and less of it
    for (const left of [0, 64, 256, 1024, 2048]) {
      const [reserve] = storeFiles().filter((file) => file.endsWith("/reserve"));
      if (reserve !== undefined) rmSync(reserve);
      fill();
      makeRoomOf(left * KIB);
      const { status, stderr } = sandbox.belay(["forget", "secret.bin", "--yes"]);
      if (status === 0) break;
      if (stderr.includes("no checkpoint has the content any more")) {
        expect(checkpoints()).toBe(4);
        makeRoom();
        expect(sandbox.belay(["status"]).stderr).toMatch(/Forgotten content is still in the store's files/);
        sandbox.ok("gc", "--yes");
        expect(sandbox.belay(["status"]).stderr).toBe("");
        break;
      }
      expect(stderr).toMatch(/Nothing was recorded/);
      makeRoom();
      expect(checkpoints()).toBe(0);
    }
    expect(checkpoints()).toBe(4);
    expect(isStored(secret)).toBe(false);
    makeRoom();
    await sandbox.verify();
  });

  function makeRoomOf(bytes: number): void {
    makeRoom();
    const { bavail, bsize } = statfsSync(sandbox.home);
    writeFileSync(join(sandbox.home, "filler"), Buffer.alloc(Math.max(0, bavail * bsize - bytes)));
  }
});
