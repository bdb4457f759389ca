/**
 * A second process that goes through the previous scan from its end while this one scans from the front,
 * and marks each directory all of whose entries still have the stat they had. It decides nothing: a mark
 * saves looking, and where there is none this process looks itself. (A process, because a worker thread
 * takes longer to start than the scan.) What they share: docs in `CompanionBoard`.
 */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { SharedBytes } from "../fs/shared-bytes.ts";
import { startSideProcess, type SideProcess } from "../fs/side-process.ts";

/** Smaller caches are gone through before a second process is up. */
export const COMPANION_CACHE_BYTES = 1024 * 1024;

/** How many directories are gone through between two looks at the board. */
const STRIDE = 16;

/** The layout of the shared bytes. */
export const BOARD = {
  /** How far the scanning process has come: directories up to this one need no looking at. */
  position: 0,
  /** The checksum of the cache that the marks are about. */
  checksum: 8,
  /** One byte a directory: 1 = every entry is as before. */
  marks: 40,
} as const;

export class ScanCompanion {
  readonly #board: SharedBytes;
  readonly #process: SideProcess;
  #marks = new Uint8Array(0);
  #trusted = false;
  #checksum = "";
  #visited = 0;

  constructor(node: string, root: AbsolutePath, cachePath: AbsolutePath) {
    this.#board = SharedBytes.create("scan", BOARD.marks);
    const script = new URL(import.meta.url.endsWith(".ts") ? "./companion-process.ts" : "./companion-process.js", import.meta.url);
    const args = [root, cachePath].map((path) => Buffer.from(path, "latin1").toString("hex"));
    this.#process = startSideProcess(node, script, { args, descriptor: this.#board.descriptor });
  }

  /** Marks count only if they are about this very cache. */
  follow(checksum: string, directories: number): void {
    this.#checksum = checksum;
    this.#marks = new Uint8Array(directories);
  }

  hasVerified(directory: number): boolean {
    return this.#trusted && this.#marks[directory] === 1;
  }

  /** Tells how far this process has come, and looks at what the other one has marked. */
  reached(directory: number): void {
    this.#visited += 1;
    if (directory < 0 || this.#visited % STRIDE !== 0) return;
    const position = Buffer.alloc(4);
    position.writeInt32LE(directory);
    this.#board.write(position, BOARD.position);
    this.#trusted ||= this.#readChecksum() === this.#checksum;
    if (this.#trusted) this.#board.read(this.#marks, BOARD.marks);
  }

  stop(): void {
    this.#process.stop();
    this.#board.close();
  }

  #readChecksum(): string {
    const checksum = Buffer.alloc(32);
    this.#board.read(checksum, BOARD.checksum);
    return checksum.toString("hex");
  }
}
