/** [R2020] What `sync.withhold` keeps at home of a push, and what of it the server has from before. */
import type { Exchange, KeptBack, ObjectHash, Selection } from "@belay/engine";
import { WITHHELD } from "../line/object-index.ts";
import type { Mirror } from "./mirror.ts";

/** What a push says of it. */
export interface HomeReport {
  /** Paths of what was sent whose content stays at home. */
  readonly withheld: readonly string[];
  /** Paths that are withheld now, and whose content the server has from before. */
  readonly sentBefore: readonly string[];
}

/** What one push keeps at home. */
export class KeptAtHome {
  readonly #exchange: Exchange;
  readonly #mirror: Mirror;
  readonly #name: string;
  /** Objects in parcels of a push that did not end. */
  readonly #uploaded: ReadonlyMap<string, unknown>;
  readonly #withheld = new Set<string>();
  readonly #sentBefore = new Set<string>();

  constructor(
    { exchange, mirror }: { readonly exchange: Exchange; readonly mirror: Mirror },
    name: string,
    uploaded: ReadonlyMap<string, unknown>,
  ) {
    this.#exchange = exchange;
    this.#mirror = mirror;
    this.#name = name;
    this.#uploaded = uploaded;
  }

  /** What stays at home of all that waits: found before the first of it is sent. */
  amongQueued(
    {
      until,
      chosen,
      line,
    }: { readonly until: number; readonly chosen: Selection | undefined; readonly line: string },
    isKnown: (hash: string) => boolean,
  ): KeptBack {
    const kept = this.#exchange.keptBack(this.#queued(until, chosen), isKnown);
    this.#tell(line, kept);
    return kept;
  }

  *#queued(until: number, chosen: Selection | undefined): Generator<string> {
    for (const { kind, id } of this.#exchange.records(this.#name, until, chosen))
      if (kind === "checkpoint") yield id;
  }

  /** What was withheld and no path of any checkpoint keeps any more. */
  released(line: string): ObjectHash[] {
    const kept = this.#exchange.keptBack(this.#exchange.checkpoints(), () => false);
    this.#tell(line, kept);
    const isHere = (hash: ObjectHash) => this.#exchange.locate([hash]).length > 0;
    return this.#mirror.withheld(line).filter((hash) => !kept.names.has(hash) && isHere(hash));
  }

  #tell(line: string, { paths }: KeptBack): void {
    for (const [hash, at] of paths) {
      const parcel = this.#mirror.place(line, hash)?.parcel ?? WITHHELD;
      const told = parcel === WITHHELD && !this.#uploaded.has(hash) ? this.#withheld : this.#sentBefore;
      for (const path of at) told.add(path);
    }
  }

  report(): HomeReport {
    return { withheld: [...this.#withheld].sort(), sentBefore: [...this.#sentBefore].sort() };
  }
}
