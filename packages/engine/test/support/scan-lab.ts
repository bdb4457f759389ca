/** A directory of real files that tests scan, without a store and without a workspace. */
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildSnapshot } from "../../src/capture/build-snapshot.ts";
import { readPending } from "../../src/capture/read-pending.ts";
import { absolutePath } from "../../src/fs/absolute-path.ts";
import { readFileClock } from "../../src/fs/file-clock.ts";
import type { BytePath } from "../../src/model/byte-path.ts";
import { createRules, type DirectoryRules } from "../../src/rules/ignore-rules.ts";
import { EXCLUDED } from "../../src/scan/stat-columns.ts";
import type { FileTable } from "../../src/scan/file-table.ts";
import { RulesReader } from "../../src/scan/rules-reader.ts";
import { scanNames, scanTree } from "../../src/scan/scan.ts";
import type { NamesToSee, Scan, ScanRequest } from "../../src/scan/scan-request.ts";
import { DISCARD, type ContentSink } from "../../src/store/content-sink.ts";
import { makeDirectory } from "./place.ts";

/** Long ago: a file with this time is at rest. */
const OLD = 1_500_000_000;

/** What a test may set of a scan. */
type Settings = Partial<Omit<ScanRequest, "root" | "rules">>;

/** Real files, and scans of them. */
export class ScanLab implements Disposable {
  readonly root: string;
  readonly #base: string;

  constructor(files: Readonly<Record<string, string>> = {}) {
    this.#base = makeDirectory("belay-scan-");
    this.root = join(this.#base, "root");
    mkdirSync(this.root);
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  [Symbol.dispose](): void {
    rmSync(this.#base, { recursive: true, force: true });
  }

  /** Where a path is on disk; each character is a byte. */
  at(path: string): Buffer {
    return Buffer.concat([Buffer.from(`${this.root}/`), Buffer.from(path, "latin1")]);
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(this.at(path), content);
  }

  remove(path: string): void {
    rmSync(join(this.root, path), { recursive: true });
  }

  /** Sets the modification time of a file to one that is long ago. */
  age(path: string, seconds = OLD): void {
    utimesSync(this.at(path), seconds, seconds);
  }

  /** Scans everything. */
  scan(settings: Settings = {}): Scan {
    const reader = new RulesReader(absolutePath(this.root), process.env["PATH"] ?? "");
    const input = reader.input({ named: [], excluded: [] }, undefined);
    return scanTree({ ...this.#request(settings), rules: () => createRules(input) });
  }

  /** Scans and reads everything: a table as it is after a capture. */
  capture(settings: Settings = {}, sink: ContentSink = DISCARD): Scan & { snapshot: string } {
    const scan = this.scan(settings);
    return { ...scan, ...buildSnapshot(this.#reading(scan, sink), settings.previous) };
  }

  /** Scans these names of a table's directories, and reads what they hold; `true`: the name may be another node now. */
  captureNames(
    previous: FileTable,
    names: Readonly<Record<string, Readonly<Record<string, boolean>>>>,
    settings: Settings = {},
  ): { scan: Scan; looks: NamesToSee[] } {
    const rules = rulesBelow(createRules({}));
    const looks = Object.entries(names).map(([path, each]) => ({
      path: path as BytePath,
      names: new Map(Object.entries(each)),
      rules: () => rules(path),
    }));
    const index = new Map(previous.directories.map((path, at) => [path, at]));
    const request = { ...this.#request(settings), rules: () => createRules({}), previous };
    const scan = scanNames(request, looks, index);
    readPending(this.#reading(scan, DISCARD));
    return { scan, looks };
  }

  #request(settings: Settings): Omit<ScanRequest, "rules"> {
    return {
      root: absolutePath(this.root),
      previous: undefined,
      trustListings: true,
      ahead: undefined,
      fileLimitBytes: 2 ** 20,
      ignoredLimits: { fileBytes: 1000, files: 20, bytes: 10_000 },
      unlimited: new Set(),
      // nothing counts as young, unless the test says so
      racySinceNs: readFileClock() + 10n ** 12n,
      ...settings,
    };
  }

  #reading(scan: Scan, sink: ContentSink) {
    return {
      root: absolutePath(this.root),
      scan,
      sink,
      fileSink: sink,
      hotSinceNs: readFileClock() + 10n ** 12n,
      limitBytes: 2 ** 30,
      unlimited: new Set<BytePath>(),
    };
  }
}

function rulesBelow(root: DirectoryRules): (path: string) => DirectoryRules {
  return (path) =>
    path === "" ? root : path.split("/").reduce((rules, name) => rules.child(name, {}), root);
}

/** Every path of a table with what is known of it, in a form that tests compare. */
export function pathsOf(table: FileTable): Record<string, string> {
  const paths: Record<string, string> = {};
  for (const [directory, path] of table.directories.entries()) {
    for (const index of table.entriesOf(directory)) {
      const name = path === "" ? table.names[index]! : `${path}/${table.names[index]!}`;
      if (table.kind[index] === EXCLUDED) paths[name] = `excluded: ${table.exclusionOf(index)}`;
      else {
        const entry = table.entryAt(index);
        paths[name] = entry.kind === "gap" ? `gap: ${entry.reason}` : entry.kind;
      }
    }
  }
  return paths;
}

/** The place of a path in a table, -1 when it is not there. */
export function findPath(table: FileTable, path: string): number {
  const at = path.lastIndexOf("/");
  const directory = table.directories.indexOf((at < 0 ? "" : path.slice(0, at)) as BytePath);
  return directory < 0 ? -1 : table.find(directory, path.slice(at + 1));
}
