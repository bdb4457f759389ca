/** The kind of file system a path is on, as far as Belay behaves differently there. */
import { statfsSync } from "node:fs";
import { forSystem, type AbsolutePath } from "./absolute-path.ts";

const NAMES: Readonly<Record<number, string>> = {
  0xef53: "ext",
  0x58465342: "xfs",
  0x9123683e: "btrfs",
  0x01021994: "tmpfs",
  0x858458f6: "ramfs",
  0x794c7630: "overlay",
  0x2fc12fc1: "zfs",
  0xf2f52010: "f2fs",
  0xca451a4e: "bcachefs",
  0x6969: "nfs",
  0xff534d42: "cifs",
  0xfe534d42: "smb2",
  0x01021997: "9p",
  0x65735546: "fuse",
  0x4d44: "fat",
  0x2011bab0: "exfat",
};

const EXACT_TIMES = new Set(["ext", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "f2fs", "bcachefs"]);
const NETWORK = new Set(["nfs", "cifs", "smb2", "9p"]);
const FLEETING = new Set(["tmpfs", "ramfs", "overlay"]);

/** What Belay may rely on in a file system. */
export interface FileSystemKind {
  readonly name: string;
  /** How far apart two writes must be for their times to differ. */
  readonly granularityNs: bigint;
  /** True when every change of a file or directory shows in its times. */
  readonly hasExactTimes: boolean;
  /** True when it is unsafe for a store: locks and shared memory do not work on it. */
  readonly network: boolean;
  /** True when it does not survive a restart of the machine or container. */
  readonly fleeting: boolean;
}

/** Looks up the kind of file system that holds `path`. */
export function fileSystemKind(path: AbsolutePath): FileSystemKind {
  const name = NAMES[statfsSync(forSystem(path)).type] ?? "unknown";
  return {
    name,
    granularityNs: EXACT_TIMES.has(name) ? 20_000_000n : 2_000_000_000n,
    hasExactTimes: EXACT_TIMES.has(name),
    network: NETWORK.has(name),
    fleeting: FLEETING.has(name),
  };
}
