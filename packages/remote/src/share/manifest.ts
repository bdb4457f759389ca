/** The manifest of a share: the checkpoint, its files, and where their pieces are. JSON lines in frames of a parcel. */
import { DamageError, expectSound } from "../parcel/damage.ts";
import { LIMIT } from "../parcel/limits.ts";
import { OpenParcel, plainFrame, sealParcel, type PlainFrame, type SpaceSecret } from "../parcel/parcel.ts";

const MANIFEST_FORMAT = 1;
const FRAME_BYTES = 4 * 1024 * 1024;

/** What is said of the checkpoint that is shared. */
export interface SharedCheckpoint {
  readonly id: string;
  readonly name: string | null;
  readonly note: string | null;
  readonly description: string;
  readonly createdAt: number;
  /** On which branch and commit it was taken. */
  readonly git: { readonly branch: string | null; readonly commit: string | null } | null;
  /** Who shared it. */
  readonly member: string;
  /** Paths that are not in it, and why. */
  readonly missing: readonly string[];
}

/** A file of a share. */
export interface SharedFile {
  /** Its bytes in base64: a path need not be UTF-8. */
  readonly path: string;
  readonly kind: "file" | "symlink";
  readonly mode: number;
  readonly size: number;
  /** The hashes of its pieces, in order. */
  readonly pieces: readonly string[];
}

/** The manifest of a share: what it holds, and where. */
export interface Manifest {
  readonly checkpoint: SharedCheckpoint;
  /** Pre-signed requests for the parcels, in their order. */
  readonly parcels: readonly string[];
  readonly files: readonly SharedFile[];
}

/** The bytes of a share's manifest. */
export function sealManifest(
  { checkpoint, parcels, files }: Manifest,
  sealing: { readonly key: string; readonly secret: SpaceSecret; readonly salt: Buffer },
): Buffer {
  const head = JSON.stringify({ format: MANIFEST_FORMAT, checkpoint, parcels });
  const frames: PlainFrame[] = [];
  let [lines, size]: [string[], number] = [[], 0];
  for (const line of [head, ...files.map((file) => JSON.stringify(file))]) {
    if (size + line.length > FRAME_BYTES && lines.length > 0) {
      frames.push(plainFrame("records", Buffer.from(lines.join("\n"))));
      [lines, size] = [[], 0];
    }
    lines.push(line);
    size += line.length + 1;
  }
  frames.push(plainFrame("records", Buffer.from(lines.join("\n"))));
  return sealParcel(frames, { kind: "content", ...sealing });
}

/** Opens the bytes of a manifest; throws when they are anything else. */
export function openManifest(
  bytes: Buffer,
  { key, secret }: { readonly key: string; readonly secret: SpaceSecret },
): Manifest {
  expectSound(bytes.length <= LIMIT.parcelBytes, "the manifest is larger than is allowed");
  const parcel = new OpenParcel(bytes, { key, kind: "content", secret });
  const [first = "", ...lines] = parcel
    .rawFrames("records", bytes)
    .flatMap((raw) => raw.toString("utf8").split("\n"));
  try {
    const { format, checkpoint, parcels } = JSON.parse(first) as Manifest & { format: number };
    expectSound(format === MANIFEST_FORMAT && Array.isArray(parcels), "the manifest has another form");
    return { checkpoint, parcels, files: lines.map((line) => JSON.parse(line) as SharedFile) };
  } catch (cause) {
    throw cause instanceof DamageError ? cause : new DamageError("the manifest is not JSON", { cause });
  }
}
