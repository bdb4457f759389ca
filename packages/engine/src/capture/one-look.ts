/** One look in progress: when it began, what it relies on, and where its content goes. */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { readFileClock } from "../fs/file-clock.ts";
import { fileSystemKind, type FileSystemKind } from "../fs/file-system-kind.ts";
import type { BytePath } from "../model/byte-path.ts";
import { createRules } from "../rules/ignore-rules.ts";
import type { RecordRequest } from "../scan/rules-reader.ts";
import type { Scan, ScanRequest } from "../scan/scan-request.ts";
import type { Look, Present } from "./look.ts";
import type { Reading } from "./read-pending.ts";
import { ruleSettings, type WorkingCopyLimits, type WorkingCopyOptions } from "./working-copy-options.ts";

/** Where a look puts content, and where that can be read afterwards. */
export type Destination = Pick<Reading, "sink" | "fileSink" | "parallel"> & Pick<Present, "objects">;

/** Files written this recently may be in the middle of being written. */
const HOT_NS = 50_000_000n;

/** The requests that one look makes of the rules, the scan and the reading. */
export class OneLook {
  /** By the clock that stamps files. */
  readonly startNs = readFileClock();
  readonly destination: Destination;
  /** What every look includes, and what this one does. */
  readonly rules: RecordRequest;
  readonly #root: AbsolutePath;
  readonly #kind: FileSystemKind;
  readonly #limits: WorkingCopyLimits;
  readonly #unlimited: ReadonlySet<BytePath>;
  readonly #progress: Look["progress"];

  constructor(options: WorkingCopyOptions, look: Look, destination: Destination) {
    const { included = [], ...every } = options.everyLook();
    this.destination = destination;
    this.#root = options.root;
    this.#kind = fileSystemKind(options.root);
    this.#limits = options.limits();
    this.#unlimited = look.unlimited ?? new Set();
    this.#progress = look.progress;
    this.rules = {
      ...every,
      included: [...included, ...(look.included ?? [])],
      settings: ruleSettings(this.#limits),
    };
  }

  /** True when an equal stat proves equal content. A path without a size limit may be a gap that looks as before. */
  get trustsStats(): boolean {
    return this.#unlimited.size === 0 && this.#kind.hasExactTimes;
  }

  /** A scan that reuses nothing. */
  get scanRequest(): ScanRequest {
    return {
      root: this.#root,
      rules: () => createRules({}),
      previous: undefined,
      trustListings: false,
      ahead: undefined,
      fileLimitBytes: this.#limits.fileBytes,
      ignoredLimits: this.#limits.ignored,
      unlimited: this.#unlimited,
      racySinceNs: this.startNs - this.#kind.granularityNs,
    };
  }

  /** What to read of a scan. */
  reading(scan: Scan): Reading {
    return {
      ...this.destination,
      root: this.#root,
      scan,
      hotSinceNs: this.startNs - HOT_NS,
      limitBytes: this.#limits.checkpointBytes,
      unlimited: this.#unlimited,
      progress: this.#progress,
    };
  }
}
