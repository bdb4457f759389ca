/** Sends the pieces of a share's files in parcels under its own key; a piece that occurs twice is sent once. */
import { createHash } from "node:crypto";
import type { FramedObject } from "../parcel/directory.ts";
import { PARCEL_TARGET_BYTES } from "../parcel/limits.ts";
import { plainFrame, sealParcel, type PlainFrame } from "../parcel/parcel.ts";
import type { Space } from "../space/space.ts";
import { putSurely } from "../stores/put-surely.ts";
import { sharePart, shareSecret, type ShareKey } from "./share-link.ts";

const FRAME_BYTES = 4 * 1024 * 1024;
const FORM_BYTES = 0;

/** The upload of one share. */
export class ShareUpload {
  readonly #space: Space;
  readonly #share: ShareKey;
  readonly #random: (bytes: number) => Buffer;
  readonly #sent = new Set<string>();
  #frames: PlainFrame[] = [];
  #framesBytes = 0;
  #pieces: Buffer[] = [];
  #objects: FramedObject[] = [];
  #size = 0;
  #bytes = 0;
  #parts = 0;

  constructor(space: Space, share: ShareKey, random: (bytes: number) => Buffer) {
    this.#space = space;
    this.#share = share;
    this.#random = random;
  }

  /** Bytes on the server. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The numbers of the parcels. */
  get parts(): number[] {
    return Array.from({ length: this.#parts }, (_, n) => n + 1);
  }

  /** Takes a piece, and returns its hash. */
  async add(piece: Buffer): Promise<string> {
    const hash = createHash("sha256").update(piece).digest("hex");
    if (this.#sent.has(hash)) return hash;
    this.#sent.add(hash);
    if (this.#size + piece.length > FRAME_BYTES) await this.#closeFrame();
    this.#objects.push({ hash, offset: this.#size, size: piece.length, form: FORM_BYTES });
    this.#pieces.push(piece);
    this.#size += piece.length;
    return hash;
  }

  /** Sends what is left. */
  async finish(): Promise<void> {
    await this.#closeFrame();
    await this.#send();
  }

  async #closeFrame(): Promise<void> {
    if (this.#objects.length === 0) return;
    const frame = plainFrame("content", Buffer.concat(this.#pieces), this.#objects);
    [this.#pieces, this.#objects, this.#size] = [[], [], 0];
    if (this.#framesBytes + frame.compressed.length > PARCEL_TARGET_BYTES) await this.#send();
    this.#frames.push(frame);
    this.#framesBytes += frame.compressed.length;
  }

  async #send(): Promise<void> {
    if (this.#frames.length === 0) return;
    const n = ++this.#parts;
    const { id } = this.#share;
    const sealing = { key: sharePart(id, n), secret: shareSecret(this.#share), salt: this.#random(32) };
    const bytes = sealParcel(this.#frames, { kind: "content", ...sealing });
    [this.#frames, this.#framesBytes] = [[], 0];
    await putSurely(this.#space.store, this.#space.names.share(id, n), bytes);
    this.#bytes += bytes.length;
  }
}
