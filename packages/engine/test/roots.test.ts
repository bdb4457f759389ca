/** The list of protected directories for the hook's script: what it says after everything that changes the registry. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findWorkspace, listWorkspaces, openWorkspace, removeWorkspace } from "../src/index.ts";
import { expectListed } from "./support/fault-check.ts";
import { FaultLab, hasCompiler } from "./support/fault-lab.ts";

let base: string;
let home: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "belay-roots-")));
  home = join(base, "home");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const listed = () =>
  readFileSync(join(home, "roots"), "utf8")
    .split("\0")
    .slice(0, -1)
    .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)] as const);

async function protect(name: string): Promise<string> {
  const path = join(base, name);
  mkdirSync(path);
  await (await openWorkspace(path, { home })).close();
  return path;
}

test("[R170] the list of roots follows the registry", async () => {
  const [one, two] = [await protect("one"), await protect("two\nlines ü")];
  const inode = (path: string) => String(statSync(path, { bigint: true }).ino);
  expect(listed()).toEqual([
    [inode(one), one],
    [inode(two), two],
  ]);
  const three = join(base, "three");
  renameSync(one, three);
  await (await findWorkspace(three, { home })).close();
  expect(listed().map(([, path]) => path)).toEqual([three, two]);
  rmSync(join(home, "roots"));
  expect(await listWorkspaces({ home })).toHaveLength(2);
  expect(listed().map(([, path]) => path)).toEqual([three, two]);
  expect(existsSync(join(home, "registry.db"))).toBe(true);
  await removeWorkspace(two, { home, purge: false });
  expect(listed().map(([, path]) => path)).toEqual([three]);
});

test.skipIf(!hasCompiler)(
  "[R170, R6] whatever call on the list fails, once or from then on, no protected directory is missing in it",
  async () => {
    const lab = new FaultLab();
    const { EMFILE, EDQUOT } = constants.errno;
    try {
      mkdirSync(join(base, "other"));
      await (await openWorkspace(join(base, "other"), { home: lab.home })).close();
      lab.keep("start");
      const { calls } = await lab.run("open");
      const onList = calls.flatMap((call, index) => (call.includes("/home/roots") ? [index + 1] : []));
      expect(onList.length).toBeGreaterThan(5);
      const refused: string[] = [];
      for (const at of onList)
        for (const lasting of [false, true]) {
          lab.putBack("start");
          const { said } = await lab.run("open", { at, how: lasting ? EDQUOT : EMFILE, lasting });
          await expectListed(lab.home);
          if (said!.done) continue;
          expect(said).toMatchObject({ name: "EngineError" });
          if (said!.message!.includes("neither written nor removed")) refused.push(said!.code!);
        }
      expect(new Set(refused)).toEqual(new Set(["DISK_FULL"]));
    } finally {
      lab.remove();
    }
  },
);
