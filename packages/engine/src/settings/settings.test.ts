import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDirectory } from "../../test/support/place.ts";
import type { EngineError } from "../model/errors.ts";
import { CHECKPOINT_PRESETS } from "../model/policy.ts";
import { RETENTION_PRESETS } from "../model/retention.ts";
import {
  configPath,
  isSettingKey,
  listSettings,
  readSettings,
  writeOwnSetting,
  writeSetting,
} from "./settings.ts";

let home: string;
beforeEach(() => {
  home = makeDirectory("belay-settings-");
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const file = () => readFileSync(join(home, "config.json"), "utf8");
const put = (text: string) => writeFileSync(join(home, "config.json"), text);

function refusal(work: () => unknown): EngineError<"CONFIG_INVALID"> {
  try {
    work();
  } catch (error) {
    return error as EngineError<"CONFIG_INVALID">;
  }
  throw new Error("nothing was refused");
}

const DEFAULTS = {
  "limits.fileBytes": 64 * 1024 * 1024,
  "limits.checkpointBytes": 2048 * 1024 * 1024,
  "limits.ignoredFileBytes": 1024 * 1024,
  "limits.ignoredFiles": 2000,
  "limits.ignoredBytes": 32 * 1024 * 1024,
  "disk.capBytes": 10 * 1024 * 1024 * 1024,
  "retention.policy": "default",
  "checkpoints.automatic": "on",
  "checkpoints.policy": "everything",
  "checkpoints.timerMinutes": 0,
  "ui.port": 0,
  "forks.directory": "",
  "forks.limit": 16,
  "forks.bytes": 20 * 1024 * 1024 * 1024,
  "forks.copyLimitBytes": 1024 * 1024 * 1024,
  "forks.dependencies": "auto",
  "forks.git": "private",
  "forks.setup": [],
  "forks.env": {},
  "forks.graceHours": 24,
  "forks.spare": 1,
  "notices.desktop": "off",
  "ghost.mode": "off",
  "ghost.keep": 50,
  "outside.capture": "off",
  "sync.automatic": "on",
  "sync.intervalSeconds": 60,
  "sync.pullMinutes": 10,
  "sync.uploadBytesPerSecond": 0,
  "sync.downloadBytesPerSecond": 0,
  "sync.transcripts": "handoff",
  "sync.kinds": "all",
  "sync.conversations": "on",
  "sync.withhold": [],
  "approvals.fromTeam": "ask",
  "retrieval.scope": "off",
  "retrieval.embedder": "hash",
  "retrieval.url": "",
  "retrieval.model": "",
  "retrieval.capBytes": 256 * 1024 * 1024,
};

describe("without a file", () => {
  test("every setting has its default, and reading makes nothing", () => {
    expect(readSettings(home)).toEqual(DEFAULTS);
    expect(readSettings(join(home, "not", "there"))).toEqual(DEFAULTS);
    expect(existsSync(join(home, "config.json"))).toBe(false);
    expect(existsSync(join(home, "not"))).toBe(false);
  });

  test("all are listed as defaults, in one order", () => {
    const listed = listSettings(home);
    expect(listed.map(({ key }) => key)).toEqual(Object.keys(DEFAULTS));
    expect(new Set(listed.map(({ source }) => source))).toEqual(new Set(["default"]));
  });
});

describe("lists and variables", () => {
  test("a command is a list of words, and is shown as it is written", () => {
    writeSetting(home, "forks.setup", '["npm", "ci"]');
    expect(readSettings(home)["forks.setup"]).toEqual(["npm", "ci"]);
    expect(listSettings(home).find(({ key }) => key === "forks.setup")?.value).toBe('["npm","ci"]');
    writeSetting(home, "forks.env", '{"PORT": "$BELAY_PORT"}');
    expect(readSettings(home)["forks.env"]).toEqual({ PORT: "$BELAY_PORT" });
  });

  test.each([
    ["forks.setup", "npm ci"],
    ["forks.setup", "[1]"],
    ["forks.env", '["A"]'],
    ["forks.env", '{"A B": "x"}'],
    ["forks.env", '{"A": 1}'],
    ["forks.directory", "somewhere"],
    ["forks.limit", "-1"],
  ])("%s refuses %s", (key, value) => {
    expect(refusal(() => writeSetting(home, key, value)).facts).toMatchObject({ key });
    expect(existsSync(join(home, "config.json"))).toBe(false);
  });
});

describe("sizes", () => {
  test.each([
    ["1", 1],
    ["1000000", 1_000_000],
    ["64MiB", 64 * 1024 * 1024],
    ["64 mib", 64 * 1024 * 1024],
    [" 2GiB ", 2 * 1024 ** 3],
    ["1.5KiB", 1536],
    ["3kb", 3000],
    ["2MB", 2_000_000],
    ["1gb", 1_000_000_000],
    ["5b", 5],
  ])("%j is %i bytes", (text, bytes) => {
    writeSetting(home, "limits.fileBytes", text);
    expect(readSettings(home)["limits.fileBytes"]).toBe(bytes);
  });

  test.each([
    "",
    " ",
    "0",
    "-1",
    "+1",
    "0x10",
    "1e3",
    "1_000",
    "1,5MiB",
    ".5MiB",
    "5.MiB",
    "MiB",
    "64Mi",
    "64TiB",
    "64 MiB x",
    "١",
    "Infinity",
    "NaN",
    "0.4",
    "9007199254740993",
    "99999999999GiB",
  ])("%j is refused, and nothing is written", (text) => {
    const error = refusal(() => writeSetting(home, "disk.capBytes", text));
    expect(error).toMatchObject({ code: "CONFIG_INVALID", facts: { key: "disk.capBytes" } });
    expect(error.message).toContain("a number of bytes");
    expect(existsSync(join(home, "config.json"))).toBe(false);
  });
});

describe("counts", () => {
  test.each([
    ["0", 0],
    ["2000", 2000],
    ["999999999", 999_999_999],
  ])("%j is %i", (text, count) => {
    writeSetting(home, "limits.ignoredFiles", text);
    expect(readSettings(home)["limits.ignoredFiles"]).toBe(count);
  });

  test.each(["", "-1", "1.5", "1e3", "2000 files", "1000000000", "many"])("%j is refused", (text) => {
    expect(refusal(() => writeSetting(home, "limits.ignoredFiles", text)).message).toContain(
      "a number of files",
    );
  });
});

describe("ports", () => {
  test("a port is a number up to 65535", () => {
    writeSetting(home, "ui.port", "7420");
    expect(readSettings(home)["ui.port"]).toBe(7420);
    for (const text of ["", "-1", "65536", "http", "7420.5"])
      expect(refusal(() => writeSetting(home, "ui.port", text)).message, text).toContain("a port");
  });
});

describe("numbers of ghosts", () => {
  test("one to 9999", () => {
    writeSetting(home, "ghost.keep", "7");
    expect(readSettings(home)["ghost.keep"]).toBe(7);
    for (const text of ["", "0", "-1", "10000", "many", "1.5"])
      expect(refusal(() => writeSetting(home, "ghost.keep", text)).message, text).toContain("1 to 9999");
  });
});

describe("an endpoint", () => {
  test("has an address and a model", () => {
    writeSetting(home, "retrieval.url", "http://127.0.0.1:11434/v1");
    writeSetting(home, "retrieval.model", "nomic-embed-text");
    expect(readSettings(home)).toMatchObject({
      "retrieval.url": "http://127.0.0.1:11434/v1",
      "retrieval.model": "nomic-embed-text",
    });
    for (const text of ["file:///etc/passwd", "not an address", "http://a b"])
      expect(refusal(() => writeSetting(home, "retrieval.url", text)).message, text).toContain("an address");
    expect(refusal(() => writeSetting(home, "retrieval.model", "a\nb")).message).toContain(
      "the name of a model",
    );
  });
});

test("[C36] [M78] fifty ghosts are kept, and remotes are synchronised every minute, unless told otherwise", () => {
  const { "ghost.keep": keep, "sync.intervalSeconds": seconds } = readSettings(home);
  expect([keep, seconds]).toEqual([50, 60]);
});

describe("words", () => {
  const choices = [
    ["retention.policy", Object.keys(RETENTION_PRESETS)],
    ["checkpoints.policy", Object.keys(CHECKPOINT_PRESETS)],
    ["checkpoints.automatic", ["on", "off"]],
    ["notices.desktop", ["on", "off"]],
    ["ghost.mode", ["off", "auto", "on"]],
    ["retrieval.scope", ["off", "touched", "all"]],
    ["retrieval.embedder", ["hash", "endpoint"]],
  ] as const;

  test.each(choices)("%s takes each of its words", (key, words) => {
    for (const word of words) {
      writeSetting(home, key, word);
      expect(readSettings(home)[key]).toBe(word);
    }
  });

  test.each(choices)("%s takes no other, and the message lists them", (key, words) => {
    for (const word of ["", "On", "true", " on", "constructor", "__proto__"]) {
      const { message } = refusal(() => writeSetting(home, key, word));
      for (const known of words) expect(message).toContain(known);
    }
  });
});

describe("keys", () => {
  test.each(["", "limits", "limits.filebytes", "toString", "__proto__", "constructor", "limits.fileBytes "])(
    "%j is no setting",
    (key) => {
      expect(isSettingKey(key)).toBe(false);
      expect(refusal(() => writeSetting(home, key, "1")).message).toContain("it does not exist");
    },
  );

  test("an unknown one is refused even when it is only to be unset", () => {
    expect(refusal(() => writeSetting(home, "nope", null)).facts.key).toBe("nope");
  });

  test("those of a later version stay in the file and change nothing here", () => {
    put('{ "later.key": [1, 2], "limits.fileBytes": 5 }');
    writeSetting(home, "limits.ignoredFiles", "7");
    expect(JSON.parse(file())).toEqual({
      "later.key": [1, 2],
      "limits.fileBytes": 5,
      "limits.ignoredFiles": 7,
    });
    expect(readSettings(home)).toEqual({ ...DEFAULTS, "limits.fileBytes": 5, "limits.ignoredFiles": 7 });
  });
});

describe("back to the default", () => {
  test("null takes a setting out of the file; the others stay", () => {
    writeSetting(home, "limits.fileBytes", "5");
    writeSetting(home, "checkpoints.automatic", "off");
    writeSetting(home, "limits.fileBytes", null);
    expect(JSON.parse(file())).toEqual({ "checkpoints.automatic": "off" });
    expect(readSettings(home)["limits.fileBytes"]).toBe(DEFAULTS["limits.fileBytes"]);
  });

  test("the list says which are set", () => {
    writeSetting(home, "checkpoints.policy", "tool");
    const set = listSettings(home).filter(({ source }) => source === "config.json");
    expect(set).toEqual([{ key: "checkpoints.policy", value: "tool", source: "config.json" }]);
  });
});

describe("[R1755] one workspace alone", () => {
  test("a value is written below its id, whichever way it was written before, and nothing else changes", () => {
    const others = { b: { "forks.limit": 9 }, a: { merge: { check: ["x"] }, "disk.capBytes": 5 } };
    for (const before of [
      { workspaces: others },
      { workspaces: { ...others, a: { ...others.a, forks: { limit: 1 } } } },
      { workspaces: { ...others, a: { ...others.a, "forks.limit": 1 } } },
      { "workspaces.a.forks.limit": 1, workspaces: others },
      { "workspaces.a": { forks: { limit: 1 } }, workspaces: others },
    ]) {
      put(JSON.stringify({ "forks.limit": 3, ...before }));
      writeOwnSetting(home, "a", { key: "forks.limit", value: "7" });
      expect(JSON.parse(file())).toEqual({
        "forks.limit": 3,
        workspaces: { ...others, a: { ...others.a, "forks.limit": 7 } },
      });
      expect(readSettings(home, "a")["forks.limit"]).toBe(7);
      writeOwnSetting(home, "a", { key: "forks.limit", value: null });
      expect(JSON.parse(file())).toEqual({ "forks.limit": 3, workspaces: others });
    }
  });

  test("the last value takes its place along, and what holds for all or is wrong is refused", () => {
    writeOwnSetting(home, "a", { key: "limits.fileBytes", value: "1MiB" });
    writeOwnSetting(home, "a", { key: "limits.fileBytes", value: null });
    expect(JSON.parse(file())).toEqual({});
    for (const [key, value] of [
      ["ui.port", "1"],
      ["sync.automatic", "off"],
      ["forks.limit", "many"],
      ["nope", "1"],
    ] as const)
      expect(refusal(() => writeOwnSetting(home, "a", { key, value })).facts.key).toBe(key);
    expect(JSON.parse(file())).toEqual({});
  });
});

describe("a file that people edited", () => {
  test("sizes may be numbers or words", () => {
    put('{ "limits.fileBytes": "2MiB", "disk.capBytes": 12345 }');
    expect(readSettings(home)).toMatchObject({
      "limits.fileBytes": 2 * 1024 * 1024,
      "disk.capBytes": 12345,
    });
  });

  test("[R188] may have objects in the place of dots, as it may for one workspace; a setting takes their place", () => {
    put('{ "limits": { "fileBytes": "2MiB", "ignoredFiles": 7 }, "checkpoints": { "automatic": "off" } }');
    expect(readSettings(home)).toEqual({
      ...DEFAULTS,
      "limits.fileBytes": 2 * 1024 * 1024,
      "limits.ignoredFiles": 7,
      "checkpoints.automatic": "off",
    });
    writeSetting(home, "limits.fileBytes", "5");
    writeSetting(home, "checkpoints.automatic", null);
    expect(JSON.parse(file())).toEqual({ limits: { ignoredFiles: 7 }, "limits.fileBytes": 5 });
    put('{ "limits": { "fileBytes": "big" } }');
    expect(refusal(() => readSettings(home)).facts.key).toBe("limits.fileBytes");
  });

  test.each([
    ["a wrong size", '{ "limits.fileBytes": "big" }', "limits.fileBytes"],
    ["a size of the wrong kind", '{ "disk.capBytes": [1] }', "disk.capBytes"],
    ["half a byte", '{ "disk.capBytes": 0.5 }', "disk.capBytes"],
    ["null", '{ "disk.capBytes": null }', "disk.capBytes"],
    ["a wrong word", '{ "checkpoints.automatic": true }', "checkpoints.automatic"],
    ["a count of the wrong kind", '{ "limits.ignoredFiles": ["7"] }', "limits.ignoredFiles"],
    ["a wrong count", '{ "limits.ignoredFiles": -5 }', "limits.ignoredFiles"],
    ["a list", "[]", "config.json"],
    ["nothing", "", "config.json"],
    ["half of it", '{ "disk.capBytes": 5', "config.json"],
  ])("with %s is refused and named, for reading and listing", (_name, text, key) => {
    put(text);
    for (const read of [readSettings, listSettings])
      expect(refusal(() => read(home))).toMatchObject({ code: "CONFIG_INVALID", facts: { key } });
    expect(file()).toBe(text);
  });

  test("that cannot be parsed is not replaced by a setting", () => {
    put("{ oops");
    expect(refusal(() => writeSetting(home, "limits.fileBytes", "5")).facts.key).toBe("config.json");
    expect(file()).toBe("{ oops");
  });

  test("with one wrong value can be mended by setting that value", () => {
    put('{ "limits.fileBytes": "big" }');
    writeSetting(home, "limits.fileBytes", "5MiB");
    expect(readSettings(home)["limits.fileBytes"]).toBe(5 * 1024 * 1024);
  });

  test("that is a directory is refused", () => {
    mkdirSync(configPath(home));
    expect(refusal(() => readSettings(home)).message).toContain("is not a JSON object");
  });
});
