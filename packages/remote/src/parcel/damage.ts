/** Bytes of a remote that are not what they claim to be. They were not used. */
export class DamageError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = "DamageError";
  }
}

/** A parcel under a secret of the space that is not known here: it was changed meanwhile, or the server altered the parcel. */
export class UnknownSecretError extends DamageError {
  readonly generation: number;
  constructor(generation: number) {
    super("the parcel is of a key generation that is not known here");
    this.name = "UnknownSecretError";
    this.generation = generation;
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
