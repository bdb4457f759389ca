/** Reads what a binary COPY sends: the fields of its rows, as bytes. */
import { RemoteFailure } from "./remote-store.ts";

const SIGNATURE_BYTES = 11;
const HEADER_BYTES = SIGNATURE_BYTES + 4 + 4;

/** Collects the chunks of one COPY. */
export class CopyReader {
  readonly #chunks: Buffer[] = [];

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  /** The rows, when all chunks are here. */
  rows(): Buffer[][] {
    const bytes = Buffer.concat(this.#chunks);
    const rows: Buffer[][] = [];
    let at = HEADER_BYTES;
    const take = (length: number): Buffer => {
      if (length < 0 || at + length > bytes.length) throw cutOff();
      at += length;
      return bytes.subarray(at - length, at);
    };
    for (;;) {
      const fields = take(2).readInt16BE();
      // the trailer
      if (fields === -1) return rows;
      rows.push(Array.from({ length: fields }, () => take(take(4).readInt32BE())));
    }
  }
}

function cutOff(): RemoteFailure {
  return new RemoteFailure("unknown", "The database's answer was cut off.");
}
