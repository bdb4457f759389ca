/**
 * Restates a line in fewer objects: folds, which save requests; bases, which leave out what retention lets go and what was
 * forgotten; and bases that encrypt everything again. A restatement is stored or not, and the line means the same either
 * way, but for what was left out on purpose.
 */
import type { JournalEntry, ObjectHash, RemoteEntry } from "@belay/engine";
import { SELF, WITHHELD, type Place } from "../line/object-index.ts";
import { createHead, openSegment, sealSegment, type Fold, type LineRecord } from "../line/segment.ts";
import type { PlainFrame } from "../parcel/parcel.ts";
import { retentionOf, type Retention } from "../space/policy.ts";
import { presentSecret, secretFor } from "../space/space.ts";
import { expectStored } from "../stores/put-surely.ts";
import { DamageError } from "../parcel/damage.ts";
import { RemoteFailure } from "../stores/remote-store.ts";
import { wantsBase } from "./base-due.ts";
import { FOLD_SEGMENTS, foldLine } from "./fold-line.ts";
import { addToMirror } from "./mirror.ts";
import { planBase } from "./plan-base.ts";
import type { LineWriter } from "./line-writer.ts";
import { lettersOf, type PushTarget } from "./push-target.ts";
import { LineDamage } from "./read-line.ts";
import { LineRewriting, type RewrittenLine } from "./rewrite-line.ts";

/** What a base leaves out. */
export interface BaseRequest extends Retention {
  /** Also what this store forgot, with every parcel that holds some of it. */
  readonly isForgetting: boolean;
  /** Only if it lets something go. */
  readonly isDropping?: boolean;
  /** [R2242] What an admin changes of a line that was adopted: no segment says so. */
  readonly changed?: readonly LineRecord[];
}

/** A line that was not written for so long may have been folded and swept since, by another copy of this store. */
export const QUIET_MS = 24 * 60 * 60 * 1000;

/** What a base says. */
interface BaseContent {
  readonly records: readonly LineRecord[];
  readonly index: ReadonlyMap<string, Place>;
  readonly inline: readonly PlainFrame[];
  readonly fold: Pick<Fold, "forgets">;
  /** The server's time when it was planned. */
  readonly now: number;
}

/** Restates the line of one push. */
export class Restater {
  readonly #writer: LineWriter;
  readonly #target: PushTarget;
  readonly #name: string;
  /** The server's time of the push before this one, and the last segment of the line then. */
  readonly #before: Pick<RemoteEntry, "pushedAt" | "segment">;
  /** What was encrypted again. */
  rewritten: RewrittenLine | null = null;

  constructor(writer: LineWriter, target: PushTarget, name: string) {
    this.#writer = writer;
    this.#target = target;
    this.#name = name;
    this.#before = writer.entry;
  }

  get #hasSent(): boolean {
    return this.#writer.entry.segment > this.#before.segment;
  }

  /** Restates many segments as one. That it did not work is no reason for the push to fail: the next one tries again. */
  async fold(): Promise<void> {
    const { foldSegments = FOLD_SEGMENTS, abilities, around, ...target } = this.#target;
    const { line, segment, segmentHash: hash } = this.#writer.entry;
    if (!this.#hasSent || hash === null || segment % foldSegments !== 0) return;
    const { createOnly } = abilities;
    const suffix = createOnly ? "" : lettersOf(around.random(8));
    await unharmed(async () => {
      await foldLine({ ...target, ...around, createOnly, suffix }, line, { number: segment, hash });
    });
  }

  /** [R1811] What this store forgot leaves the line with a base; until that is stored the outbox remembers it. */
  async forget(): Promise<void> {
    const { exchange, space } = this.#target;
    const until = exchange.forgetsUntil(this.#name);
    if (until === 0 || exchange.outboxEnd(this.#name) > 0) return;
    const request = { ...retentionOf(space), isForgetting: true };
    if (await this.#surely(() => this.base(request))) exchange.settleForgets(this.#name, until);
  }

  /** [R1815] Weekly the line lets go what the policy of its space says. That it did not work is no reason for the push to fail. */
  async restate(): Promise<void> {
    const { space, foldSegments = FOLD_SEGMENTS } = this.#target;
    const { line, segment, pushedAt } = this.#writer.entry;
    // an ordinary push stays two requests
    const { pushedAt: lastPush } = this.#before;
    const isQuiet = lastPush !== null && (pushedAt ?? 0) - lastPush >= QUIET_MS;
    const isLook = segment % foldSegments === 0 || isQuiet;
    if (!this.#hasSent || !isLook) return;
    await unharmed(async () => {
      const wants = await wantsBase(space, line, pushedAt ?? 0);
      if (wants === "never") return;
      await this.base({ ...retentionOf(space), isForgetting: false, isDropping: wants === "dropping" });
    });
  }

  /** [R2245] What is older than the secret that an admin named is encrypted again. Where that does not work it is tried again a day later. */
  async rewrite(isUrgent = false): Promise<void> {
    const { space, mirror, progress, around, inlineBytes } = this.#target;
    const { line, segment } = this.#writer.entry;
    const { rewrite: least = 0 } = space.roster.roster;
    if (segment === 0 || mirror.rewritten(line) >= least) return;
    if (Math.abs(around.now() - mirror.rewriteTriedAt(line)) < QUIET_MS && !isUrgent) return;
    mirror.noteRewriteTry(line, around.now());
    await unharmed(async () => {
      const isDone = await this.#surely(async () => {
        const { number, date: now } = await this.#looked();
        const rewriting = new LineRewriting(
          { space, uploads: this.#writer.uploads, inlineBytes, progress },
          { line, number, least },
        );
        if (!(await rewriting.read())) return true;
        const { index, inline } = await rewriting.move();
        const { records } = rewriting;
        if (!(await this.#commit({ records, index, inline, fold: {}, now }))) return false;
        this.rewritten = rewriting.report();
        return true;
      });
      if (isDone) mirror.noteRewritten(line, least);
    });
  }

  async #looked(): Promise<{ number: number; date: number }> {
    const { date } = await this.#writer.sweeps.lookAgain();
    this.#writer.uploads.exempt();
    return { number: this.#writer.entry.segment, date };
  }

  /** Where a restatement of the same segments is there already, one more segment makes room for another. */
  async #surely(work: () => Promise<boolean>): Promise<boolean> {
    if (this.#writer.entry.segment >= 2 && (await work())) return true;
    // [R1810] only its writer makes segments
    if (this.#target.adopted !== undefined) return false;
    await this.#writer.takeNumber();
    return work();
  }

  /** Restates the whole line as one object, without what retention lets go, where this store has all that is kept. */
  async base({ isForgetting, isDropping = false, changed, ...retention }: BaseRequest): Promise<boolean> {
    const { exchange, space, adopted } = this.#target;
    const { line, segment: number, segmentHash: hash } = this.#writer.entry;
    // one segment needs no restating, and its key would be that of the segment
    if (hash === null || number < 2) return false;
    const { date: now, isBanned } = await this.#writer.sweeps.lookAgain();
    const isWhole = adopted !== undefined;
    const planning = { space, exchange, retention, now, isForgetting, isBanned, isWhole, changed };
    const plan = await planBase(planning, line, number);
    if (plan === undefined || (isDropping && plan.dropped === 0)) return false;
    // what waits may change a checkpoint that the line has: the base would hold one state of it and the objects of another
    if (exchange.outboxEnd(this.#name) > 0) return false;
    this.#writer.uploads.exempt();
    const index = new Map(plan.index);
    const inline = await this.#writer.uploads.upload(plan.needed, index);
    const fold = isForgetting ? { forgets: plan.forgets } : {};
    return this.#commit({ records: plan.records, index, inline, fold, now });
  }

  /** Writes a base into the journal, and stores it. False when a fold of the same segments is there. */
  async #commit({ records, index: moved, inline, fold, now }: BaseContent): Promise<boolean> {
    const { exchange, space, keys, device, around, abilities, adopted } = this.#target;
    const { line, segment: number, segmentHash, began } = this.#writer.entry;
    const index = new Map(moved);
    for (const [n, frame] of inline.entries())
      for (const { hash: name } of frame.objects) index.set(name, { parcel: SELF, frame: n });
    // [R2242] an adopted line does not grow: its bases restate the same segments one after the other
    const isNamedAlone = abilities.createOnly && adopted === undefined;
    const suffix = isNamedAlone ? "" : lettersOf(around.random(8));
    const key = space.names.fold(line, { from: 1, to: number }, suffix);
    const head = createHead({
      line,
      number,
      previous: null,
      member: keys.id,
      device,
      at: around.now(),
      from: began === null ? null : (JSON.parse(began) as { line: string; number: number }),
      seen: {},
      sweep: this.#writer.sweeps.newest,
      fold: { from: 1, hash: segmentHash!, isBase: true, ...fold },
      ...(keys.certificate !== undefined && { certificate: keys.certificate }),
      ...(adopted !== undefined && { adopted: { member: adopted.member, name: adopted.name } }),
    });
    const parcels = [...index.values()].map(({ parcel }) => parcel);
    const uses = new Set(parcels.filter((id) => id !== SELF && id !== WITHHELD));
    const bytes = sealSegment(
      { head, records, index, content: inline, uses: [...uses] },
      { key, secret: presentSecret(space), salt: around.random(32), signer: keys.sign },
    );
    const at = Math.min(this.#writer.uploads.uploadedSince() ?? now, now);
    const entry: JournalEntry = { key, kind: "segment", stored: false, at, until: null, detail: bytes };
    exchange.noteRequest(this.#name, entry);
    return this.commitBase(entry);
  }

  /**
   * [T5] From here on the line has what its base says: this store must know that before it writes another segment. False when
   * a fold of the same segments is there.
   */
  async commitBase({ key, detail: bytes, at }: JournalEntry): Promise<boolean> {
    const { exchange, space, mirror, abilities, adopted } = this.#target;
    const { head, index, hash, bytesHash } = openSegment(bytes, { key, secret: secretFor(space, bytes) });
    const put = await space.store.put(key, bytes, { createOnly: abilities.createOnly });
    if (put.outcome === "exists" && !(await this.#writer.isThere({ key, detail: bytes }))) {
      exchange.dropJournal(this.#name);
      return false;
    }
    if (put.outcome === "stored") await expectStored(space.store, { key, bytes }, put.etag);
    const lost = await this.#writer.sweeps.lostSince(index, { at, now: put.date });
    // [R2243] a segment of the adopter's would end the line: readers pass this base over until the next look makes another
    if (lost.size > 0 && adopted !== undefined)
      throw new LineDamage("missing", key, "what this base names was swept before it came");
    // [R1514] readers pass such a base over: what rides inside it is sent again too
    if (lost.size > 0) for (const [name, { parcel }] of index) if (parcel === SELF) lost.add(name);
    const kept = new Map([...index].filter(([name]) => !lost.has(name)));
    addToMirror(mirror, head.line, { head, hash, index: kept, bytesHash });
    if (lost.size > 0) await this.#writer.repair([...lost] as ObjectHash[]);
    else exchange.settle(this.#name, { segment: head.number, hash, until: 0, at: put.date });
    return true;
  }
}

/** A push that sent everything does not fail because restating did: the next one tries again. */
async function unharmed(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // a line that does not fit one base goes on without it
    const isRemote = error instanceof RemoteFailure || error instanceof LineDamage;
    if (!isRemote && !(error instanceof DamageError)) throw error;
  }
}
