/** The names of a space's objects: numbers and random ids, nothing that says what is inside. */

const DIGITS = 12;

/** A number as it stands in a key: in byte order, too. */
function numberText(n: number): string {
  return String(n).padStart(DIGITS, "0");
}

/** The number that a key ends with, before what makes it unique; undefined when there is none. */
export function numberIn(key: string): number | undefined {
  const [, digits] = /\/(\d{12})(?:-[a-z]{8})?$/.exec(key) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** What of its line an object holds: one segment, or with a fold those from one number to another. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The segments that the object of a key stands for; undefined when it is none of a line's. */
export function spanIn(key: string): Span | undefined {
  const [, first, last] = /\/(\d{12})(?:-(\d{12}))?(?:-[a-z]{8})?$/.exec(key) ?? [];
  return first === undefined ? undefined : { from: Number(first), to: Number(last ?? first) };
}

/** The keys of one space. */
export class SpaceNames {
  readonly space: string;

  constructor(space: string) {
    this.space = space;
  }

  roster(n: number): string {
    return `${this.space}/k/${numberText(n)}`;
  }

  get rosters(): string {
    return `${this.space}/k/`;
  }

  sealedSecret(generation: number, member: string): string {
    return `${this.space}/k/${generation}.${member}`;
  }

  /** `suffix`: eight letters, where the server cannot refuse to overwrite. */
  segment(line: string, n: number, suffix = ""): string {
    return `${this.space}/l/${line}/${numberText(n)}${suffix === "" ? "" : `-${suffix}`}`;
  }

  /** Segments `from` to `to` as one. */
  fold(line: string, { from, to }: Span, suffix = ""): string {
    return `${this.space}/l/${line}/${numberText(from)}-${numberText(to)}${suffix === "" ? "" : `-${suffix}`}`;
  }

  segmentsOf(line: string): string {
    return `${this.space}/l/${line}/`;
  }

  get lines(): string {
    return `${this.space}/l/`;
  }

  head(line: string): string {
    return `${this.space}/h/${line}`;
  }

  get heads(): string {
    return `${this.space}/h/`;
  }

  parcel(id: string): string {
    return `${this.space}/b/${id.slice(0, 2)}/${id}`;
  }

  get parcels(): string {
    return `${this.space}/b/`;
  }

  /** Part n of a share; 0 is its manifest. */
  share(id: string, n: number): string {
    return `${this.shares}${id}/${n}`;
  }

  /** What members know of a share. */
  shareFacts(id: string): string {
    return `${this.shares}${id}/facts`;
  }

  get shares(): string {
    return `${this.space}/x/`;
  }

  /** A thread that is handed over. */
  handoff(thread: string): string {
    return `${this.handoffs}${thread}`;
  }

  get handoffs(): string {
    return `${this.space}/t/`;
  }

  get sweeps(): string {
    return `${this.space}/g/`;
  }

  sweep(n: number): string {
    return `${this.space}/g/${numberText(n)}`;
  }
}

/** Whether a key is that of a fold or a base. */
export function isFoldKey(key: string): boolean {
  const span = spanIn(key);
  return span !== undefined && span.to > span.from;
}

/** The last part of a key: of a parcel its id. */
export function idOf(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}
