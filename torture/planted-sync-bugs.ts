/** Safety steps of remotes that `--self-test` switches off: the rules of sweeping, of order, and of what is believed. */
import type { PlantedBug, Planting } from "./planted-bugs.ts";

const edit = (file: string, text: string, instead: string): Planting => ({
  package: "remote",
  file,
  text,
  instead,
});

export const SYNC_BUGS: readonly PlantedBug[] = [
  {
    name: "content is borrowed without a look at the sweeps",
    suite: "sync",
    tries: 40,
    edits: [
      edit("sync/push", "place !== undefined && this.#lender.uses.has(place.parcel)", "place !== undefined"),
      edit("sync/push", "at: borrowed.size > 0 ? 0 :", "at: borrowed.size > 0 ? Infinity :"),
    ],
  },
  {
    name: "a commit that took days is not looked at again",
    suite: "sync",
    tries: 40,
    edits: [edit("sync/sweeps-seen", "now - at <= FENCE_MS", "now - at <= FENCE_MS * 1000")],
  },
  {
    name: "what is unnamed is deleted at once",
    suite: "sync",
    tries: 40,
    edits: [edit("sync/sweep", "const GRACE_MS = 72 * HOUR_MS;", "const GRACE_MS = 0 * HOUR_MS;")],
  },
  {
    name: "what was condemned is deleted without a second look",
    suite: "sync",
    tries: 40,
    edits: [
      edit(
        "sync/sweep",
        "for (const key of unnamed) {\n    if (Object",
        "for (const key of new Set([...unnamed, ...Object.keys(before.condemned)])) {\n    if (Object",
      ),
    ],
  },
  {
    name: "a condemnation survives a pardon",
    suite: "sync",
    tries: 200,
    edits: [
      edit(
        "sync/sweep",
        "const since = before.condemned[key] ?? now;",
        "const all: Map<string, number> = ((globalThis as never as { since: Map<string, number> }).since ??= new Map()); const since = all.get(key) ?? now; all.set(key, since);",
      ),
    ],
  },
  {
    name: "what was forgotten is deleted at the first look",
    suite: "sync",
    tries: 200,
    edits: [edit("sync/sweep", "forgotten.has(key) && before.hurried.includes(key)", "forgotten.has(key)")],
  },
  {
    name: "what was borrowed is looked at again only after 36 hours",
    suite: "sync",
    tries: 200,
    edits: [edit("sync/push", "at: borrowed.size > 0 ? 0 :", "at: borrowed.size > 0 ? around.now() :")],
  },
  {
    name: "a base relies on what an earlier one gave up",
    suite: "sync",
    tries: 200,
    edits: [
      edit("sync/plan-base", "readLine(space, line, undefined, { there })", "readLine(space, line)"),
      edit(
        "sync/plan-base",
        "listed.has(space.names.parcel(parcel)) && !isBanned(parcel)",
        "parcel !== line",
      ),
    ],
  },
  {
    name: "a base that took days is not looked at again",
    suite: "sync",
    tries: 200,
    edits: [
      edit(
        "sync/restate-line",
        "const lost = await this.#writer.sweeps.lostSince(index, { at, now: put.date });",
        "const lost = new Set<string>();",
      ),
    ],
  },
  {
    name: "a sweep deletes before it says so",
    suite: "sync",
    tries: 200,
    edits: [
      edit(
        "sync/sweep",
        "await putSweep(space, next, sweeping);\n    // [T7] only after the state that says so is stored\n    await store.remove(gone.map(({ key }) => key));",
        "await store.remove(gone.map(({ key }) => key));\n    await putSweep(space, next, sweeping);",
      ),
    ],
  },
  {
    name: "two sweeps have the same number",
    suite: "sync",
    tries: 200,
    edits: [edit("sync/sweep", "{ createOnly: true });\n  if (put", "{ createOnly: false });\n  if (put")],
  },
  {
    name: "a parcel counts as uploaded when its last try was answered",
    suite: "sync",
    tries: 200,
    edits: [
      edit(
        "sync/uploads",
        "put.date - Math.max(0, around.now() - begun)",
        "put.date - Math.max(0, begun - around.now())",
      ),
    ],
  },
  {
    name: "a fold that names what is gone restates segments",
    suite: "sync",
    tries: 200,
    edits: [
      edit(
        "sync/sweep",
        "!isTrue || !uses.every((id) => this.#there.has(this.#space.names.parcel(id)))",
        "!isTrue",
      ),
    ],
  },
  {
    name: "what is being deleted counts as there",
    suite: "sync",
    tries: 200,
    edits: [
      edit(
        "sync/sweep",
        ".filter((key) => !Object.hasOwn(before.deleting, key))",
        ".filter((key) => key !== before.member)",
      ),
    ],
  },
  {
    name: "a sweep forgets what it deleted",
    suite: "sync",
    tries: 200,
    edits: [edit("sync/sweep", "if (now - at < MEMORY_MS || named.has(key))", "if (now - at < 1)")],
  },
  {
    name: "what no sweep remembers counts as there",
    suite: "sync",
    tries: 200,
    edits: [
      edit(
        "sync/sweeps-seen",
        "const isThere = await this.presentParcels();\n    return new Set(named.filter(",
        "const { isBanned } = await this.lookAgain();\n    const isThere = (parcel: string) => !isBanned(parcel);\n    return new Set(named.filter(",
      ),
    ],
  },
  {
    name: "the writer of an adopted line claims what it sent in its sleep",
    suite: "sync",
    tries: 200,
    edits: [edit("sync/push", "expectNotAdopted(await refreshed(), line);", "await refreshed();")],
  },
  {
    name: "what is known of the members is as new as the push",
    suite: "sync",
    tries: 200,
    edits: [edit("sync/push", "target.lookedAt ?? target.around.now()", "target.around.now()")],
  },
  {
    name: "a segment that came long after its line was adopted counts",
    suite: "sync",
    tries: 200,
    edits: [
      edit(
        "space/writer-rights",
        'isLate && verdict === "counts" ? "late" : verdict',
        "isLate ? verdict : verdict",
      ),
    ],
  },
  {
    name: "an adopter begins at once",
    suite: "sync",
    tries: 200,
    edits: [
      edit(
        "sync/adopted-lines",
        "if (now - since <= ADOPTION_FENCE_MS) continue;",
        "if (now < since) continue;",
      ),
    ],
  },
  {
    name: "an adopter repairs its base with a segment",
    suite: "sync",
    tries: 200,
    edits: [edit("sync/restate-line", "if (lost.size > 0 && adopted !== undefined)", "if (lost.size < 0)")],
  },
  {
    name: "a store goes on with a line that was adopted",
    suite: "sync",
    tries: 40,
    edits: [edit("sync/push", "expectNotAdopted(target.space, first.line);", "")],
  },
  {
    name: "of two bases of an adopted line a sweep believes the older",
    suite: "sync",
    tries: 200,
    edits: [
      edit(
        "sync/sweep",
        "fold.object.modified > one.object.modified",
        "fold.object.modified < one.object.modified",
      ),
    ],
  },
  {
    name: "what a removed member or the writer of an adopted line sends restates for a sweep",
    suite: "sync",
    tries: 200,
    edits: [
      edit("sync/read-uses", 'isWritten = verdict === "counts";', 'isWritten = verdict !== "foreign";'),
    ],
  },
  {
    name: "what rides inside segments is not encrypted again",
    suite: "sync",
    tries: 40,
    edits: [
      edit(
        "sync/rewrite-line",
        "inside.has(hash) && !taken.has(hash)",
        "inside.has(hash) && taken.has(hash)",
      ),
    ],
  },
  {
    name: "the base of what was encrypted again is not looked at again",
    suite: "sync",
    tries: 200,
    edits: [
      edit(
        "sync/restate-line",
        "inline, fold: {}, now })",
        "inline, fold: {}, now: (this.#writer.uploads.uploadedSince() ?? now) + Infinity })",
      ),
    ],
  },
  {
    name: "what stays at home has no place in a base",
    suite: "sync",
    tries: 40,
    edits: [
      edit(
        "sync/plan-base",
        "if (isWithheld === true) index.set(hash, { parcel: WITHHELD, frame: 0 });",
        "if (isWithheld === true) index.delete(hash);",
      ),
      edit("sync/plan-base", "parcel === WITHHELD || (", "("),
    ],
  },
  {
    name: "a sweep takes what was handed over for parcels",
    suite: "sync",
    tries: 5,
    edits: [edit("sync/sweep", "collect(store.list(names.parcels))", "collect(store.list(space.id))")],
  },
  {
    name: "a head is trusted",
    suite: "sync",
    tries: 40,
    edits: [
      edit(
        "sync/read-line",
        "  return covers;\n}",
        `  const head = await store.get(names.head(line));
  if (head === undefined) return covers;
  const { OpenParcel } = await import("../parcel/parcel.ts");
  const parcel = new OpenParcel(head.bytes, { key: names.head(line), kind: "head", secret: secretFor(space, head.bytes) });
  const { number } = JSON.parse(String(parcel.rawFrames("records", head.bytes)[0])) as { number: number };
  return covers.filter(({ to }) => to <= number);
}`,
      ),
    ],
  },
  {
    name: "an index is stored before its parcels",
    suite: "sync",
    tries: 40,
    edits: [
      edit(
        "sync/uploads",
        "const put = await putSurely(space.store, key, bytes);\n    // [T8]",
        "const put = { date: around.now() };\n    space.store.put(key, bytes, { createOnly: false }).catch(() => undefined);\n    // [T8]",
      ),
    ],
  },
  {
    name: "a signature is not checked",
    suite: "sync",
    tries: 5,
    edits: [edit("sync/read-line", 'if (verdict === "forged" ||', "if (verdict === undefined ||")],
  },
  {
    name: "a parcel that was never answered counts as uploaded",
    suite: "network",
    tries: 150,
    edits: [edit("sync/push", 'kind === "parcel" && stored);', 'kind === "parcel");')],
  },
  {
    name: "a segment whose answer was lost is forgotten",
    suite: "network",
    tries: 60,
    edits: [
      edit(
        "sync/push",
        "if (segment !== undefined) return void (await this.#commit(segment));",
        "if (segment !== undefined) return exchange.dropJournal(this.#name);",
      ),
    ],
  },
  {
    name: "what is being sent counts as stored",
    suite: "network",
    tries: 60,
    edits: [
      edit(
        "sync/push",
        '    const put = await space.store.put(key, bytes, { createOnly: abilities.createOnly });\n    if (put.outcome === "exists" && !(await this.isThere({ key, detail: bytes }))) throw new LineTaken(key);',
        '    exchange.settle(this.#name, { segment: head.number - 1, hash: head.previous ?? "", until: until ?? 0, at: 0 });\n    const put = await space.store.put(key, bytes, { createOnly: abilities.createOnly });\n    if (put.outcome === "exists" && !(await this.isThere({ key, detail: bytes }))) throw new LineTaken(key);',
      ),
    ],
  },
];
