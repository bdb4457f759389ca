/**
 * Reads a share from its link alone: no membership, no access to the server. Everything is authenticated before it is
 * decompressed, every piece hashed before it is used [T9]. Parcels are kept as they came, in a scratch directory, so that
 * memory does not grow with the share.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathFromBytes, type ImportedFile } from "@belay/engine";
import { expectSound } from "../parcel/damage.ts";
import { LIMIT } from "../parcel/limits.ts";
import { OpenParcel } from "../parcel/parcel.ts";
import { translating } from "../sync/translate-failure.ts";
import { openManifest, type Manifest, type SharedCheckpoint } from "./manifest.ts";
import { parseLink, sharePart, shareSecret, type ShareKey } from "./share-link.ts";

/** The bytes behind a pre-signed request. */
export type Download = (url: string) => Promise<Buffer>;

/** A share that was downloaded. */
export interface OpenShare extends Disposable {
  readonly checkpoint: SharedCheckpoint;
  readonly bytes: number;
  /** Its files; throws when one is not whole. */
  files(): Iterable<ImportedFile>;
}

/** Downloads a share by its link. */
export async function openShare(link: string, download: Download): Promise<OpenShare> {
  const { url, share } = parseLink(link);
  return translating(async () => {
    const first = await download(url);
    const manifest = openManifest(first, { key: sharePart(share.id, 0), secret: shareSecret(share) });
    const directory = mkdtempSync(join(tmpdir(), "belay-share-"));
    try {
      let bytes = first.length;
      for (const [at, request] of manifest.parcels.entries()) {
        const parcel = await download(request);
        expectSound(parcel.length <= LIMIT.parcelBytes, "a parcel is larger than is allowed");
        writeFileSync(join(directory, String(at + 1)), parcel, { mode: 0o600 });
        bytes += parcel.length;
      }
      const pieces = new Pieces(directory, share, manifest.parcels.length);
      return {
        checkpoint: manifest.checkpoint,
        bytes,
        files: () => filesOf(manifest, pieces),
        [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
      };
    } catch (error) {
      rmSync(directory, { recursive: true, force: true });
      throw error;
    }
  });
}

function* filesOf({ files }: Manifest, pieces: Pieces): Generator<ImportedFile> {
  for (const { path, kind, mode, size, pieces: names } of files) {
    const length = names.reduce((sum, name) => sum + pieces.sizeOf(name), 0);
    expectSound(length === size, "a file has another length than the manifest says");
    const content = Buffer.concat(names.map((name) => pieces.read(name)));
    yield { path: pathFromBytes(Buffer.from(path, "base64")), kind, mode, content };
  }
}

/** The pieces in the parcels of a share; the frame that was read last is kept. */
class Pieces {
  readonly #directory: string;
  readonly #share: ShareKey;
  readonly #places = new Map<string, { parcel: number; frame: number; offset: number; size: number }>();
  #open: { readonly parcel: number; readonly frame: number; readonly raw: Buffer } | undefined;

  constructor(directory: string, share: ShareKey, count: number) {
    this.#directory = directory;
    this.#share = share;
    for (let n = 1; n <= count; n++)
      for (const [frame, { objects }] of this.#parcel(n).parcel.frames.entries())
        for (const { hash, offset, size } of objects)
          this.#places.set(hash, { parcel: n, frame, offset, size });
  }

  sizeOf(hash: string): number {
    return this.#place(hash).size;
  }

  #place(hash: string) {
    const place = this.#places.get(hash);
    expectSound(place !== undefined, "a piece of a file is not in the share");
    return place;
  }

  read(hash: string): Buffer {
    const { parcel, frame, offset, size } = this.#place(hash);
    if (this.#open?.parcel !== parcel || this.#open.frame !== frame) {
      const opened = this.#parcel(parcel);
      this.#open = { parcel, frame, raw: opened.parcel.rawFrame(frame, opened.bytes) };
    }
    const piece = this.#open.raw.subarray(offset, offset + size);
    const isProved = createHash("sha256").update(piece).digest("hex") === hash;
    expectSound(isProved, "a piece of a file is not what its name says");
    return piece;
  }

  #parcel(n: number): { bytes: Buffer; parcel: OpenParcel } {
    const bytes = readFileSync(join(this.#directory, String(n)));
    const opening = {
      key: sharePart(this.#share.id, n),
      kind: "content",
      secret: shareSecret(this.#share),
    } as const;
    return { bytes, parcel: new OpenParcel(bytes, opening) };
  }
}
