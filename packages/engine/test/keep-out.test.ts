/** Secrets that stay out: `.belayignore`, `forget --always`, and the one way in. */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findStageLeftovers } from "./support/tree-map.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

async function newestPaths({ workspace }: TempWorkspace): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path, kind } of workspace.files("@")) if (kind === "file") paths.push(path);
  return paths;
}

describe("[R134] .belayignore has the last word", () => {
  test(
    "over .env files, git's index and named paths; only an explicit include is above it",
    inWorkspace(
      {
        ".belayignore": ".env*\ntracked.pem\nnamed.key\nvault/\n",
        a: "a",
        "tracked.pem": "t",
        ".env": "S=1",
      },
      async (temp) => {
        const { workspace, write } = temp;
        execFileSync("git", ["init", "-q", "."], { cwd: temp.root });
        execFileSync("git", ["add", "-f", "tracked.pem"], { cwd: temp.root });
        write("vault/x/y", "secret");
        await workspace.checkpoint({ paths: ["named.key"] });
        write("named.key", "k");
        await workspace.checkpoint();
        expect(await newestPaths(temp)).toEqual([".belayignore", "a"]);
        await workspace.checkpoint({ include: [".env", "vault"] });
        expect(await newestPaths(temp)).toEqual([".belayignore", ".env", "a", "vault/x/y"]);
        // for that one checkpoint
        expect((await workspace.checkpoint()).checkpoint.changes).toEqual({
          added: 0,
          modified: 0,
          deleted: 0,
        });
        expect(await newestPaths(temp)).toEqual([".belayignore", "a"]);
      },
    ),
  );
});

describe("[R135] forget --always", () => {
  test.for(["cold", "live"])("keeps a path out from then on, is listed, and can be taken back (%s)", (mode) =>
    inWorkspace({ a: "a", "secret.pem": "s", "vault/x": "x" }, async (temp) => {
      const { workspace, write, read } = temp;
      if (mode === "live") await workspace.watch();
      await workspace.upkeep.forget("./secret.pem", { always: true });
      await workspace.upkeep.forget("./vault", { always: true });
      // what was never there can be kept out too
      await workspace.upkeep.forget("./later.pem", { always: true });
      write("secret.pem", "s2");
      write("vault/y", "y");
      write("later.pem", "l");
      write("a", "b");
      const { checkpoint } = await workspace.checkpoint();
      expect(await newestPaths(temp)).toEqual(["a"]);
      expect(checkpoint.changes.modified).toBe(1);
      temp.remove("later.pem");
      const { excluded } = await workspace.status();
      expect(excluded.filter(({ rule }) => rule === "forget --always").map(({ path }) => path)).toEqual([
        "secret.pem",
        "vault",
        "later.pem",
      ]);
      // no restore may touch it
      await workspace.restoreTo("1");
      expect([read("a"), read("secret.pem"), read("vault/y")]).toEqual(["a", "s2", "y"]);
      expect(await workspace.upkeep.captureAgain("secret.pem")).toBe(true);
      expect(await workspace.upkeep.captureAgain("secret.pem")).toBe(false);
      await workspace.checkpoint();
      expect(await newestPaths(temp)).toEqual(["a", "secret.pem"]);
    })(),
  );

  test(
    "[N0] what a program wrote into a replaced file meanwhile is not stored either: it stays beside its name, and out",
    inWorkspace({ a: "a", "secret.pem": "harmless\n" }, async (temp) => {
      const { workspace, root, write, read } = temp;
      write("secret.pem", "secret\n");
      const descriptor = openSync(join(root, "secret.pem"), "a");
      await workspace.restoreTo("1");
      await workspace.upkeep.forget("secret.pem", { always: true });
      writeSync(descriptor, "more\n");
      closeSync(descriptor);
      await workspace.checkpoint();
      const [beside, ...others] = readdirSync(root).filter((name) => name.startsWith("secret.pem."));
      expect([beside, others]).toEqual([expect.stringMatching(/^secret\.pem\.displaced-/), []]);
      expect([read(beside!), read("secret.pem")]).toEqual(["secret\nmore\n", "harmless\n"]);
      expect(findStageLeftovers(root)).toEqual([]);
      write("a", "b");
      await workspace.checkpoint();
      expect(await newestPaths(temp)).toEqual(["a"]);
      for (const { id } of await workspace.list())
        for await (const { path, kind } of workspace.files(id)) expect([path, kind]).toEqual(["a", "file"]);
      const { excluded } = await workspace.status();
      expect(excluded.filter(({ rule }) => rule === "forget --always").map(({ path }) => path)).toContain(
        beside,
      );
    }),
  );

  test(
    "what a program has open that a restore replaced is named: without --always a checkpoint will hold it again",
    inWorkspace({ a: "a", "keys/secret.pem": "harmless\n" }, async (temp) => {
      const { workspace, root, write, remove } = temp;
      write("keys/secret.pem", "secret\n");
      const descriptor = openSync(join(root, "keys/secret.pem"), "a");
      await workspace.restoreTo("1");
      const forget = (path: string) => workspace.upkeep.forget(path, { dryRun: true });
      expect((await forget("./a")).stillOpen).toEqual([]);
      expect((await forget("./keys")).stillOpen).toEqual(["keys/secret.pem"]);
      remove("keys/secret.pem");
      expect((await workspace.upkeep.forget("./keys/secret.pem")).stillOpen).toEqual(["keys/secret.pem"]);
      writeSync(descriptor, "more\n");
      closeSync(descriptor);
      await workspace.checkpoint();
      const has = async (id: string) => {
        for await (const { path, kind } of workspace.files(id))
          if (path === "keys/secret.pem" && kind === "file") return true;
        return false;
      };
      const holders = (await Promise.all((await workspace.list()).map(({ id }) => has(id)))).filter(Boolean);
      expect(holders).toHaveLength(1);
      expect((await workspace.upkeep.forget("./keys/secret.pem")).stillOpen).toEqual([]);
    }),
  );
});
