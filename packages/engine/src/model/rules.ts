/**
 * The rules of a snapshot, as an object of the store. They tell later whether a path that the snapshot lacks
 * would have been captured, had it existed. Without that proof nothing is deleted.
 * Equal rules have equal bytes: lists are sorted, and `decodeRules` refuses what `encodeRules` would not have
 * written. Layout: docs/format.md.
 */
import type { BytePath } from "./byte-path.ts";
import { EngineError } from "./errors.ts";
import type { ObjectHash } from "./object-hash.ts";
import { isSafeName } from "./tree.ts";

/** The path of each layer's ignore file within its directory. */
export const IGNORE_FILE_PATHS = {
  belayignore: ".belayignore",
  exclude: ".git/info/exclude",
  gitignore: ".gitignore",
} as const;

/** The sources of ignore patterns. */
export type IgnoreLayer = keyof typeof IGNORE_FILE_PATHS;

/** An ignore file as it was when the snapshot was taken. */
export interface RecordedIgnoreFile {
  /** Relative to the workspace root; files of an enclosing repository start with "../". */
  readonly path: BytePath;
  readonly layer: IgnoreLayer;
  readonly content: Buffer;
}

/**
 * A path that is left out regardless of ignore files: a nested workspace, a linked worktree, the store, or a
 * path the user excluded permanently.
 */
export interface ExcludedDirectory {
  readonly path: BytePath;
  readonly reason: string;
}

/** The settings that influence what is captured. */
export type RuleSettings = Readonly<Record<string, JsonValue>>;
/** Any JSON value. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** Everything that decided which paths a snapshot captured. */
export interface RecordedRules {
  /** The version of the list of default excludes. */
  readonly defaultsVersion: number;
  /** Where the workspace root lies in its git repository; "" at the top level or without a repository. */
  readonly prefix: BytePath;
  readonly ignoreFiles: readonly RecordedIgnoreFile[];
  readonly excluded: readonly ExcludedDirectory[];
  /** Paths that a tool named in its input. */
  readonly named: readonly BytePath[];
  /** Paths in git's index. Only those that ignore files exclude need to be listed. */
  readonly tracked: readonly BytePath[];
  /** Paths requested for this one capture regardless of ignore files. */
  readonly included: readonly BytePath[];
  /** Git-ignored directories over their budget. They were left out, and their content is unknown. */
  readonly overBudget: readonly ExcludedDirectory[];
  readonly settings: RuleSettings;
}

/** Whether only the named paths were captured, and nothing is known of others: `settings.coverage` says so. */
export function coversOnlyNamed({ settings }: Pick<RecordedRules, "settings">): boolean {
  return settings["coverage"] === "named";
}

/** The rules of a snapshot that knows of these paths and of no others. */
export function rulesOfNamed(named: readonly BytePath[]): RecordedRules {
  return {
    // a Belay that does not know this version deletes nothing by these rules
    defaultsVersion: 3,
    prefix: "" as BytePath,
    ignoreFiles: [],
    excluded: [],
    named,
    tracked: [],
    included: [],
    overBudget: [],
    settings: { coverage: "named" },
  };
}

const MAGIC = "belay rules 1\n";
/** Used when rules contain facts of one particular capture, which is rare. */
const MAGIC_OF_CAPTURE = "belay rules 2\n";

/** The only encoding of these rules. */
export function encodeRules(rules: RecordedRules): Buffer {
  const isOfCapture = rules.included.length + rules.overBudget.length > 0;
  const ignoreFiles = sortedBy(rules.ignoreFiles, ({ path }) => path);
  return Buffer.concat([
    Buffer.from(isOfCapture ? MAGIC_OF_CAPTURE : MAGIC, "latin1"),
    ...(isOfCapture ? [...field(pathList(rules.included)), ...directoryList(rules.overBudget)] : []),
    ...field(String(rules.defaultsVersion)),
    ...field(rules.prefix),
    ...field(Buffer.from(canonicalJson(rules.settings))),
    ...field(pathList(rules.named)),
    ...field(pathList(rules.tracked)),
    ...directoryList(rules.excluded),
    ...ignoreFiles.flatMap(({ path, layer, content }) => [
      ...field(layer),
      ...field(path),
      ...field(content),
    ]),
  ]);
}

function directoryList(directories: readonly ExcludedDirectory[]): Buffer[] {
  const sorted = sortedBy(directories, ({ path }) => path);
  return [
    ...field(String(sorted.length)),
    ...sorted.flatMap(({ path, reason }) => [...field(path), ...field(Buffer.from(reason))]),
  ];
}

/** Four bytes of length, then the bytes. Text holds one byte per character. */
function field(content: string | Buffer): [Buffer, Buffer] {
  const bytes = typeof content === "string" ? Buffer.from(content, "latin1") : content;
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(bytes.length);
  return [length, bytes];
}

/** NUL separates paths: no path contains it. */
function pathList(paths: readonly BytePath[]): string {
  return [...new Set(paths)].sort().join("\0");
}

/** Sorted by key; of several items with the same key, the last. */
function sortedBy<Item>(items: readonly Item[], key: (item: Item) => string): Item[] {
  const byKey = new Map(items.map((item) => [key(item), item]));
  return [...byKey.keys()].sort().map((each) => byKey.get(each)!);
}

/** Equal values give equal text, whatever the order of their keys. */
export function canonicalJson(value: JsonValue): string {
  return JSON.stringify(value, (_, item: JsonValue) => {
    if (item === null || typeof item !== "object" || Array.isArray(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** Decodes a rules object; throws `OBJECT_CORRUPT` on anything `encodeRules` would not have written. */
export function decodeRules(bytes: Buffer, name: ObjectHash): RecordedRules {
  try {
    const rules = readRules(bytes);
    if (encodeRules(rules).equals(bytes)) return rules;
  } catch (error) {
    throw corrupt(name, error);
  }
  throw corrupt(name);
}

function readRules(bytes: Buffer): RecordedRules {
  const fields = new FieldReader(bytes);
  const included = fields.isOfCapture ? fields.paths() : [];
  const overBudget = fields.isOfCapture ? fields.directories() : [];
  const defaultsVersion = fields.count();
  const prefix = safePath(fields.text());
  const settings = settingsOf(fields.bytes());
  const [named, tracked] = [fields.paths(), fields.paths()];
  const excluded = fields.directories();
  const ignoreFiles: RecordedIgnoreFile[] = [];
  while (!fields.atEnd) {
    const layer = layerOf(fields.text());
    ignoreFiles.push({ layer, path: ignoreFilePath(fields.text(), layer), content: fields.bytes() });
  }
  return { defaultsVersion, prefix, ignoreFiles, excluded, named, tracked, included, overBudget, settings };
}

class FieldReader {
  readonly #bytes: Buffer;
  #at = MAGIC.length;

  readonly isOfCapture: boolean;

  constructor(bytes: Buffer) {
    const magic = bytes.toString("latin1", 0, MAGIC.length);
    this.isOfCapture = magic === MAGIC_OF_CAPTURE;
    if (magic !== MAGIC && !this.isOfCapture) throw new Error("it is not a rules object");
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  bytes(): Buffer {
    const start = this.#at + 4;
    const end = start + this.#bytes.readUInt32BE(this.#at);
    if (end > this.#bytes.length) throw new Error("a field is cut off");
    this.#at = end;
    return this.#bytes.subarray(start, end);
  }

  text(): string {
    return this.bytes().toString("latin1");
  }

  count(): number {
    const text = this.text();
    if (!/^\d{1,9}$/.test(text)) throw new Error("a number is not one");
    return Number(text);
  }

  directories(): ExcludedDirectory[] {
    const list: ExcludedDirectory[] = [];
    for (let left = this.count(); left > 0; left -= 1)
      list.push({ path: safePath(this.text()), reason: this.bytes().toString() });
    return list;
  }

  paths(): BytePath[] {
    const text = this.text();
    return text === "" ? [] : text.split("\0").map(safePath);
  }
}

function safePath(text: string): BytePath {
  if (text !== "" && !text.split("/").every(isSafeName)) throw new Error("a path leads out of the workspace");
  return text as BytePath;
}

function ignoreFilePath(text: string, layer: IgnoreLayer): BytePath {
  safePath(text.replace(/^(?:\.\.\/)+/, ""));
  if (!`/${text}`.endsWith(`/${IGNORE_FILE_PATHS[layer]}`))
    throw new Error("an ignore file has another layer's name");
  return text as BytePath;
}

function layerOf(text: string): IgnoreLayer {
  if (!Object.hasOwn(IGNORE_FILE_PATHS, text)) throw new Error("an ignore file is of an unknown layer");
  return text as IgnoreLayer;
}

function settingsOf(bytes: Buffer): RuleSettings {
  const settings: unknown = JSON.parse(bytes.toString());
  if (typeof settings !== "object" || settings === null || Array.isArray(settings))
    throw new Error("no settings");
  return settings as RuleSettings;
}

function corrupt(name: ObjectHash, cause?: unknown): EngineError<"OBJECT_CORRUPT"> {
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  return new EngineError(
    "OBJECT_CORRUPT",
    `Object ${name.slice(0, 12)} of the store, the rules of a snapshot, is damaged${why}.`,
    { object: name, checkpoints: [] },
    cause,
  );
}
