/** Each event is carried out once: by one process, and again only where that one failed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../test/recording-host.ts";
import { EventClaims } from "./event-claims.ts";

const GONE = 2 ** 22 + 1;
const MINUTE_MS = 60_000;

function setUp() {
  const directory = join(temporaryDirectory(), "conversation");
  return { directory, file: join(directory, "seen"), claims: new EventClaims(directory) };
}

/** As if another process, which has died since, had made all claims. */
function die(file: string): void {
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(` ${process.pid}-`, ` ${GONE}-`));
}

describe("[R61, R156] the right to carry out an event", () => {
  test("is given once, also when the event is done", () => {
    const { claims } = setUp();
    const claim = claims.claim("tool-before:1");
    expect(claim).toMatchObject({ arrivedAt: null });
    expect(claims.claim("tool-before:1")).toBeNull();
    claim!.close(true);
    expect(claims.claim("tool-before:1")).toBeNull();
    expect(claims.claim("tool-before:2")).not.toBeNull();
  });

  test("is given again after a failure", () => {
    const { claims } = setUp();
    claims.claim("tool-before:1")!.close(false);
    expect(claims.wasClaimed("tool-before:1")).toBe(false);
    expect(claims.claim("tool-before:1")).not.toBeNull();
    expect(claims.wasClaimed("tool-before:1")).toBe(true);
  });

  test("is given again, once, when its process died over it", () => {
    const { claims, file } = setUp();
    claims.claim("tool-before:1");
    die(file);
    expect(claims.claim("tool-before:1")).not.toBeNull();
    expect(claims.claim("tool-before:1")).toBeNull();
  });

  test("is not taken by a claim that a full disk cut off anywhere", () => {
    const { claims, file } = setUp();
    claims.claim("tool-before:1");
    const line = readFileSync(file, "utf8").trimEnd();
    for (let length = line.length - 1; length > 0; length -= 1) {
      writeFileSync(file, line.slice(0, length));
      expect(claims.wasClaimed("tool-before:1"), `${length} bytes`).toBe(false);
    }
    expect(claims.claim("tool-before:1")).not.toBeNull();
  });

  test("is not given again when its process died after it was done", () => {
    const { claims, file } = setUp();
    claims.claim("tool-before:1")!.close(true);
    die(file);
    expect(claims.claim("tool-before:1")).toBeNull();
  });

  test("goes to the first of two claims that were made at the same moment", () => {
    const { claims, file } = setUp();
    claims.claim("tool-before:1");
    const [name] = readFileSync(file, "utf8").trim().split(" ");
    // another process read the file before this line and appended after it
    appendFileSync(file, `\n${name} claim 1-1-1 - -\n${name} done 1-1-1\n`);
    die(file);
    expect(claims.claim("tool-before:1")).not.toBeNull();
  });

  test("goes to one of many processes", async () => {
    const { directory } = setUp();
    const module = join(import.meta.dirname, "event-claims.ts");
    const script = `const { EventClaims } = await import(${JSON.stringify(module)});
      const claims = new EventClaims(${JSON.stringify(directory)});
      const start = Number(await new Promise((resolve) => process.stdin.once("data", resolve)));
      // all of them at the same moments
      const won = Array.from({ length: 200 }, (_, at) => {
        while (Date.now() < start + 2 * at);
        return claims.claim("event " + at) === null ? 0 : 1;
      });
      console.log(JSON.stringify(won));
      await new Promise((resolve) => process.stdin.once("end", resolve).resume());`;
    const children = Array.from({ length: 3 }, () =>
      spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", "inherit"] }),
    );
    const answers = children.map(async (child) => {
      const [data] = (await once(child.stdout, "data")) as [Buffer];
      return JSON.parse(data.toString()) as number[];
    });
    const start = Date.now() + 500;
    for (const child of children) child.stdin.write(String(start));
    const won = await Promise.all(answers);
    for (const child of children) child.stdin.end();
    await Promise.all(children.map((child) => once(child, "close")));
    const winners = won[0]!.map((_, at) => won.reduce((sum, process) => sum + process[at]!, 0));
    expect(winners).toEqual(winners.map(() => 1));
  });

  test("tells equal events apart by their time: within two seconds they are one", () => {
    const { claims } = setUp();
    claims.claim("prompt:continue", 10_000)!.close(true);
    expect(claims.claim("prompt:continue", 10_000)).toBeNull();
    expect(claims.claim("prompt:continue", 11_999)).toBeNull();
    expect(claims.claim("prompt:continue", 8001)).toBeNull();
    const second = claims.claim("prompt:continue", 12_000);
    expect(second).toMatchObject({ arrivedAt: 12_000 });
    second!.close(true);
    expect(claims.claim("prompt:continue", 13_000)).toBeNull();
    expect(claims.claim("prompt:continue", 15_000)).toMatchObject({ arrivedAt: 15_000 });
  });

  test("keeps the time of the first delivery where that process died", () => {
    const { claims, file } = setUp();
    claims.claim("prompt:continue", 10_000);
    die(file);
    expect(claims.claim("prompt:continue", 11_000)).toMatchObject({ arrivedAt: 10_000 });
  });

  test("outlives a line that a full disk cut off", () => {
    const { claims, file } = setUp();
    claims.claim("one")!.close(true);
    appendFileSync(file, "\n0123456789abcdef cla");
    expect(claims.claim("two")).not.toBeNull();
    expect([claims.claim("one"), claims.claim("two")]).toEqual([null, null]);
  });
});

describe("claims do not pile up", () => {
  test("they are forgotten after ten to twenty minutes", () => {
    const { claims } = setUp();
    claims.claim("old")!.close(true);
    claims.dropOld(Date.now() + 9 * MINUTE_MS);
    claims.claim("newer")!.close(true);
    claims.dropOld(Date.now() + 11 * MINUTE_MS);
    expect([claims.wasClaimed("old"), claims.wasClaimed("newer")]).toEqual([true, true]);
    claims.claim("newest")!.close(true);
    claims.dropOld(Date.now() + 11 * MINUTE_MS);
    expect([claims.wasClaimed("old"), claims.wasClaimed("newest")]).toEqual([false, true]);
  });

  test("a turn of very many events has two files of bounded size, and knows the last ones", () => {
    const { claims, directory } = setUp();
    claims.claim("first");
    const filler = `\n${"0".repeat(16)} done ${"1".repeat(1000)}\n`.repeat(300);
    for (let round = 0; round < 3; round += 1) {
      appendFileSync(join(directory, "seen"), filler);
      claims.claim(`event ${round}`)!.close(true);
    }
    const sizes = readdirSync(directory).map((name) => statSync(join(directory, name)).size);
    expect(sizes.length).toBe(2);
    expect(Math.max(...sizes)).toBeLessThan(310_000);
    expect([claims.wasClaimed("first"), claims.wasClaimed("event 2")]).toEqual([false, true]);
  });
});
