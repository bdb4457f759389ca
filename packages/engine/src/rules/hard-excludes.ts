/**
 * Names that are never captured, regardless of ignore files, index and tools: git's own data and Belay's
 * staging. A name that some file system equates with `.git` counts as `.git`, because restoring it there
 * would write into the repository.
 */
import { ancestorPaths, baseName, type BytePath } from "../model/byte-path.ts";
import type { Excluded } from "./ignore-pattern-list.ts";

/** Begins the names of staging directories. */
export const STAGE_PREFIX = ".belay-stage-";

/** Why git's own data is never captured. */
export const GIT: Excluded = { excludedBy: "always: .git" };
const STAGE: Excluded = { excludedBy: `always: ${STAGE_PREFIX}*` };

/** Why a name is never captured; undefined for nearly all names. */
export function hardExclude(name: string): Excluded | undefined {
  switch (name.charCodeAt(0)) {
    case 0x2e: // "."
      if (name.startsWith(STAGE_PREFIX)) return STAGE;
      return isGitAlias(name) ? GIT : undefined;
    case 0x47: // "G"
    case 0x67: // "g"
    case 0xe2: // the first bytes of the code points that HFS+ ignores
    case 0xef:
      return isGitAlias(name) ? GIT : undefined;
    default:
      return undefined;
  }
}

/** The part of a path that ends with its first name that is never captured; undefined for nearly all paths. */
export function neverCapturedAt(path: BytePath): BytePath | undefined {
  return [...ancestorPaths(path), path].find((at) => hardExclude(baseName(at)) !== undefined);
}

/** NTFS: any case, the short name `git~1`, trailing dots and spaces, a stream name or a path behind it. */
const NTFS_GIT = /^(?:\.git|git~1)[ .]*(?:$|[:\\])/i;
/** HFS+: U+200C–200F, U+202A–202E, U+206A–206F and U+FEFF do not count in a name (here as UTF-8 bytes). */
const HFS_IGNORED = /\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf/g;
const HIGH_BYTE = /[\x80-\xff]/;

function isGitAlias(name: string): boolean {
  return NTFS_GIT.test(HIGH_BYTE.test(name) ? name.replace(HFS_IGNORED, "") : name);
}
