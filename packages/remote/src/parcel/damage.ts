/** Bytes of a remote that are not what they claim to be. They were not used. */
export class DamageError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = "DamageError";
  }
}

/** A parcel or roster that a newer Belay wrote. */
export class NewerFormatError extends Error {
  constructor(what: string) {
    super(what);
    this.name = "NewerFormatError";
  }
}

/** Throws unless what was read from a remote holds. */
export function expectSound(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new DamageError(reason);
}
