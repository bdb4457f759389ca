/** What a parcel may be at most. Larger is damage: a hostile server must not be able to fill memory or disk. */

const MIB = 1024 * 1024;

/** Limits of everything that is read from a remote. */
export const LIMIT = {
  /** A whole parcel. */
  parcelBytes: 20 * MIB,
  /** The directory of a parcel. */
  directoryBytes: 8 * MIB,
  /** Objects in one parcel. */
  parcelObjects: 2 ** 20,
  /** One frame, decompressed. */
  frameBytes: 16 * MIB,
  /** One record, as text. */
  recordBytes: 16 * MIB,
} as const;

/** Content parcels are closed when they reach this size. */
export const PARCEL_TARGET_BYTES = 4 * MIB;
