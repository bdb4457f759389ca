/**
 * [R2431] Old data that a crash left half written, or that lost files: what an import still says is what the whole data said.
 * No content is another one, and nothing counts as absent that was there.
 */
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import { IMPORTERS } from "../src/imports/importers.ts";
import type { FoundCheckpoint } from "../src/imports/importer.ts";
import { OldData } from "../src/imports/old-data.ts";
import { LooseRepository, OldPlace, sha256 } from "./old-place.ts";

const STATES: readonly Readonly<Record<string, string>>[] = [
  { "a.txt": "one\n", "src/b.txt": "b\n" },
  { "a.txt": "two\n", "src/b.txt": "b\n", "src/c.txt": "made later\n" },
  { "a.txt": "three\n", "src/c.txt": "made later\n" },
];

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 10, minute)).toISOString();

/** Each writes the three states as its program kept them. */
const WRITERS: Readonly<Record<string, (place: OldPlace) => void>> = {
  agentsmithy(place) {
    const dialog = ".agentsmithy/dialogs/01J";
    const repository = new LooseRepository(place, `${dialog}/checkpoints/.git`);
    let parents: string[] = [];
    const titles: Record<string, unknown> = {};
    for (const [index, files] of STATES.entries()) {
      const tree = repository.tree(files);
      const commit = repository.commit({
        tree,
        parents,
        at: 1_767_261_600 + index,
        message: `Before ${index}`,
      });
      titles[commit] = { message: `Before user message: ${index}` };
      repository.head(`session_${index + 1}`, commit);
      parents = [commit];
    }
    repository.head("main", parents[0]!);
    place.json(`${dialog}/checkpoints/metadata.json`, titles);
    place.json(".agentsmithy/dialogs/index.json", {
      current_dialog_id: "01J",
      dialogs: [{ id: "01J", title: "T" }],
    });
    using journal = new DatabaseSync(place.path(`${dialog}/journal.sqlite`));
    journal.exec("CREATE TABLE message_store (id INTEGER PRIMARY KEY, session_id TEXT, message TEXT)");
    for (const checkpoint of Object.keys(titles))
      journal
        .prepare("INSERT INTO message_store (session_id, message) VALUES ('01J', ?)")
        .run(JSON.stringify({ type: "human", data: { content: "x", additional_kwargs: { checkpoint } } }));
  },
  mimir(place) {
    const conversation = ".mimir/context/conversations/conv-1";
    place.json(`${conversation}/metadata.json`, { id: "conv-1" });
    place.json(
      `${conversation}/snapshots/index.json`,
      STATES.map((_, index) => ({ id: `snap-${index}`, timestamp: at(index), type: "manual" })).toReversed(),
    );
    for (const [index, files] of STATES.entries()) {
      const snapshot = `${conversation}/snapshots/snap-${index}`;
      const listed = Object.entries(files).map(([path, content]) => ({ path, hash: sha256(content) }));
      place.json(`${snapshot}/metadata.json`, { id: `snap-${index}`, timestamp: at(index), files: listed });
      for (const [path, content] of Object.entries(files)) place.write(`${snapshot}/files/${path}`, content);
    }
  },
  "code-buddy"(place) {
    const history = `history/${"0".repeat(16)}`;
    const files = (state: Readonly<Record<string, string>>) =>
      ["a.txt", "src/b.txt", "src/c.txt"].map((path) => {
        const content = state[path] ?? "";
        const existed = state[path] !== undefined;
        return { path: `/gone/project/${path}`, content, existed, hash: sha256(content).slice(0, 16) };
      });
    for (const [index, state] of STATES.entries())
      place.json(`${history}/cp_${index}.json`, {
        id: `cp_${index}`,
        timestamp: at(index),
        description: "d",
        files: files(state),
        workingDirectory: "/gone/project",
      });
    const checkpoints = STATES.map((_, index) => ({ id: `cp_${index}` }));
    place.json(`${history}/index.json`, {
      projectHash: "0".repeat(16),
      projectPath: "/gone/project",
      checkpoints,
    });
    const undo = `checkpoints/${"0".repeat(16)}`;
    place.json(`${undo}/index.json`, {
      workingDirectory: "/gone/project",
      checkpoints: STATES.map((state, index) => ({
        id: `undo_${index}`,
        timestamp: at(index),
        files: Object.entries(state).map(([path, content]) => ({
          relativePath: path,
          hash: sha256(content),
          size: content.length,
          mode: 33188,
          exists: true,
        })),
      })),
    });
    for (const [index, state] of STATES.entries())
      for (const [path, content] of Object.entries(state))
        place.write(`${undo}/files/undo_${index}/${path}`, content);
  },
  moldable(place) {
    const conversation = "workspaces/w/checkpoints/app/conv";
    for (const [index, files] of STATES.entries()) {
      const listed = Object.entries(files).map(([path, content]) => {
        const hash = sha256(content);
        place.write(`${conversation}/blobs/${hash.slice(0, 2)}/${hash}`, content);
        return { path, hash, size: content.length, mode: 33188, exists: true };
      });
      place.json(`${conversation}/snapshots/m${index}.json`, {
        id: "snap-1",
        messageId: `m${index}`,
        appDir: "/gone/app",
        createdAt: at(index),
        files: listed,
      });
    }
    const snapshots = STATES.map((_, index) => ({ messageId: `m${index}` }));
    place.json(`${conversation}/manifest.json`, { conversationId: "conv", appId: "app", snapshots });
  },
  supervisor(place) {
    for (const [index, state] of STATES.entries()) {
      const files = ["a.txt", "src/b.txt", "src/c.txt"].map((path) => {
        const content = state[path];
        if (content === undefined) return { path, encoding: "utf-8", mode: 0, hash: "deleted" };
        place.write(`checkpoints/s1/blobs/${sha256(content)}`, content);
        return { path, encoding: "utf-8", mode: 420, hash: sha256(content) };
      });
      const facts = {
        id: `c${index}`,
        sessionId: "s1",
        type: "auto",
        messageIndex: index,
        createdAt: at(index),
      };
      place.json(`checkpoints/s1/c${index}.meta.json`, { ...facts, files, sizeBytes: 1 });
    }
  },
};

/** What an import claims of each checkpoint. */
interface Claim {
  readonly contents: ReadonlyMap<string, string>;
  readonly absent: ReadonlySet<string>;
  /** Seen, and not to be touched. */
  readonly gaps: readonly string[];
}

function claimsIn(directory: string, kind: string): { claims: Map<string, Claim>; skipped: number } {
  const data = new OldData(directory, []);
  const importer = IMPORTERS.find((each) => each.kind === kind)!;
  const claims = new Map<string, Claim>();
  if (importer.looksLike(data))
    for (const { threads } of importer.read(data, { into: "/gone/project", here: new Set() }))
      for (const { checkpoints } of threads)
        for (const checkpoint of checkpoints) claims.set(checkpoint.alias, claimOf(checkpoint));
  return { claims, skipped: data.skipped.length };
}

function claimOf({ files, covers }: FoundCheckpoint): Claim {
  const contents = new Map<string, string>();
  const gaps: string[] = [];
  for (const file of files)
    if (file.kind === "gap") gaps.push(file.path);
    else contents.set(file.path, file.content.toString("utf8"));
  const isHere = (path: string) =>
    contents.has(path) || gaps.some((gap) => path === gap || path.startsWith(`${gap}/`));
  return { contents, gaps, absent: new Set(covers.filter((path) => !isHere(path))) };
}

const place = fc.nat(1_000_000);
/** What becomes of a file when its program or the machine dies, or a person clears up. */
const LOSS = fc.oneof(
  fc.record({ what: fc.constant("gone" as const), file: place }),
  fc.record({
    what: fc.constant("cut" as const),
    file: place,
    part: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true })),
  }),
);
/** A program that wrote less than ours knows of; alone, because without its hash no loss of a content can be told. */
const FIELD = fc.record({
  what: fc.constant("field" as const),
  file: place,
  field: place,
  value: fc.constantFrom(undefined, null, {}, ""),
});
const DAMAGE = fc.oneof(
  fc.array(LOSS, { minLength: 1, maxLength: 3 }),
  FIELD.map((one) => [one]),
);
type Damage = typeof DAMAGE extends fc.Arbitrary<(infer One)[]> ? One : never;

function damage(directory: string, done: Damage): void {
  const files = filesBelow(directory).filter((name) => done.what !== "field" || name.endsWith(".json"));
  const file = join(directory, files[done.file % files.length]!);
  if (done.what === "gone") rmSync(file);
  else if (done.what === "cut") truncateSync(file, Math.floor(statSync(file).size * done.part));
  else writeFileSync(file, withoutField(file, done));
}

/** JSON that lost a field, or the value of one. */
function withoutField(file: string, { field, value }: { field: number; value: unknown }): string {
  const json = JSON.parse(readFileSync(file, "utf8")) as unknown;
  const fields: { holder: Record<string, unknown>; name: string }[] = [];
  const visit = (each: unknown) => {
    if (typeof each !== "object" || each === null) return;
    for (const name of Object.keys(each)) {
      if (!Array.isArray(each)) fields.push({ holder: each as Record<string, unknown>, name });
      visit((each as Record<string, unknown>)[name]);
    }
  };
  visit(json);
  const { holder, name } = fields[field % fields.length]!;
  holder[name] = value;
  return JSON.stringify(json);
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(directory.length + 1))
    .sort();
}

/** Mimir's copies have their hashes in another file. Without it they are what is there, and that is said. */
function isNamed(content: string, then: string | undefined, skipped: number): boolean {
  return skipped > 0 && then?.startsWith(content) === true;
}

const RUNS = Number(process.env["BELAY_RUNS"] ?? 60);

test.each(Object.keys(WRITERS))(
  "[R2431] [N6] damaged data of %s claims nothing that the whole data did not",
  (kind) => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "belay-damaged-")));
    try {
      let number = 0;
      const make = () => {
        const made = new OldPlace(join(base, String((number += 1))));
        WRITERS[kind]!(made);
        return made.directory;
      };
      const whole = claimsIn(make(), kind);
      expect([whole.claims.size > 2, whole.skipped]).toEqual([true, 0]);
      fc.assert(
        fc.property(DAMAGE, (all) => {
          const directory = make();
          for (const each of all) damage(directory, each);
          const { claims, skipped } = claimsIn(directory, kind);
          for (const [alias, claim] of claims) {
            const then = whole.claims.get(alias)!;
            for (const [path, content] of claim.contents)
              expect([
                alias,
                path,
                content === then.contents.get(path) ||
                  (kind === "mimir" && isNamed(content, then.contents.get(path), skipped)),
              ]).toEqual([alias, path, true]);
            for (const path of claim.absent)
              expect([alias, path, then.contents.has(path)]).toEqual([alias, path, false]);
          }
          // [N1] what a checkpoint lacks now was named; one of which nothing is left is not known of
          const isLess = [...claims].some(
            ([alias, { contents }]) => contents.size < whole.claims.get(alias)!.contents.size,
          );
          if (isLess) expect(skipped).toBeGreaterThan(0);
          rmSync(directory, { recursive: true });
        }),
        { numRuns: RUNS },
      );
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  },
);
