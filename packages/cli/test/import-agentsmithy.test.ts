/** What AgentSmithy left in a project: dialogs with a repository of flat trees and a journal in SQLite. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LooseRepository, OldPlace } from "./old-place.ts";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
let place: OldPlace;
const DIALOG = ".agentsmithy/dialogs/01JABC";
const AT = 1_761_217_200;

beforeEach(() => {
  sandbox = new Sandbox({ "main.py": "now\n", "run.sh": "#!/bin/sh\n", "notes.md": "mine\n" });
  chmodSync(sandbox.path("run.sh"), 0o755);
  place = new OldPlace(sandbox.path("."));
});
afterEach(() => sandbox[Symbol.dispose]());

interface Commits {
  readonly initial: string;
  readonly first: string;
  readonly approved: string;
  readonly second: string;
}

function writeDialog(): Commits {
  const repository = new LooseRepository(place, `${DIALOG}/checkpoints/.git`);
  const commit = (files: Record<string, string>, parents: string[], at: number, message: string) =>
    repository.commit({ tree: repository.tree(files), parents, at: AT + at, message });
  const initial = commit({ "main.py": "one\n", "run.sh": "#!/bin/sh\n" }, [], 0, "Initial snapshot");
  const first = commit(
    { "main.py": "two\n", "pkg/mod.py": "mod\n", "run.sh": "#!/bin/sh\n" },
    [initial],
    1,
    "Before user message: Add tests",
  );
  const approved = commit(
    { "main.py": "two\n", "pkg/mod.py": "mod\n", "run.sh": "#!/bin/sh\n" },
    [initial, first],
    2,
    "Approved",
  );
  const second = commit(
    { "main.py": "three\n", "run.sh": "#!/bin/sh\n" },
    [approved],
    3,
    "Before user message: Go on",
  );
  repository.head("main", approved);
  repository.head("session_1", first);
  repository.head("session_2", second);
  place.json(`${DIALOG}/checkpoints/metadata.json`, {
    [second]: { message: "Before user message: Go on, and do it well" },
  });
  place.json(".agentsmithy/dialogs/index.json", {
    current_dialog_id: "01JABC",
    dialogs: [
      {
        id: "01JABC",
        title: "My Feature",
        created_at: "2025-10-23T11:00:00Z",
        updated_at: "2025-10-23T16:30:00Z",
        active_session: "session_2",
        last_approved_at: "2025-10-23T16:00:00Z",
        initial_checkpoint: initial,
      },
    ],
  });
  return { initial, first, approved, second };
}

function writeJournal({ first, approved, second }: Commits): void {
  mkdirSync(sandbox.path(DIALOG), { recursive: true });
  using journal = new DatabaseSync(sandbox.path(`${DIALOG}/journal.sqlite`));
  journal.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, session_name TEXT UNIQUE, ref_name TEXT, status TEXT,
      created_at TEXT, closed_at TEXT, approved_commit TEXT, checkpoints_count INTEGER, branch_exists BOOLEAN DEFAULT 1);
    CREATE TABLE message_store (id INTEGER PRIMARY KEY, session_id TEXT, message TEXT)`);
  const session = journal.prepare(
    "INSERT INTO sessions (session_name, ref_name, status, created_at, closed_at, approved_commit) VALUES (?, ?, ?, ?, ?, ?)",
  );
  session.run(
    "session_1",
    "refs/heads/session_1",
    "merged",
    "2025-10-23T11:00:00Z",
    "2025-10-23T16:00:00Z",
    approved,
  );
  session.run("session_2", "refs/heads/session_2", "active", "2025-10-23T16:00:00Z", null, null);
  const message = journal.prepare("INSERT INTO message_store (session_id, message) VALUES ('01JABC', ?)");
  const human = (content: string, checkpoint: string, name: string) =>
    message.run(
      JSON.stringify({ type: "human", data: { content, additional_kwargs: { checkpoint, session: name } } }),
    );
  human("Add tests", first, "session_1");
  message.run(JSON.stringify({ type: "ai", data: { content: "Done.", additional_kwargs: {} } }));
  human("Go on", second, "session_2");
  message.run("{ cut off");
}

test("[R370] [R372] dialogs come with sessions, approvals and messages; commits of flat trees still resolve", () => {
  const commits = writeDialog();
  writeJournal(commits);
  const said = place.import(sandbox, ["agentsmithy", "."], 3);
  expect(said).toMatchObject({ kind: "agentsmithy", threads: 1, checkpoints: 4, alreadyThere: 0 });
  expect(said.skipped).toEqual([{ what: "journal.sqlite: message 4", reason: "it is not valid JSON" }]);
  const thread = sandbox.json(["thread", "01JABC"]);
  expect(thread).toMatchObject({
    thread: { agent: "dialogs", externalId: "01JABC", title: "My Feature", session: "session_2" },
    sessions: [
      { name: "session_1", status: "merged" },
      { name: "session_2", status: "active" },
    ],
  });
  expect(thread.messages.map((each: { content: string }) => each.content)).toEqual([
    "Add tests",
    "Done.",
    "Go on",
  ]);
  const shown = sandbox.json(["show", commits.second]).checkpoint;
  expect(shown).toMatchObject({
    kind: "message",
    session: "session_2",
    description: "Before user message: Go on, and do it well",
  });
  expect(sandbox.json(["show", commits.second.slice(0, 9)]).checkpoint.id).toBe(shown.id);
  expect(sandbox.json(["show", commits.approved]).checkpoint).toMatchObject({ kind: "approve" });
  expect(sandbox.json(["show", commits.initial]).checkpoint).toMatchObject({ kind: "initial", parents: [] });
  sandbox.ok("restore", commits.first, "--yes");
  expect([sandbox.read("main.py"), sandbox.read("pkg/mod.py"), sandbox.read("notes.md")]).toEqual([
    "two\n",
    "mod\n",
    "mine\n",
  ]);
  expect(statSync(sandbox.path("run.sh")).mode & 0o777).toBe(0o755);
  sandbox.ok("restore", commits.initial, "--yes");
  expect([sandbox.read("main.py"), sandbox.read("pkg/mod.py"), sandbox.read("notes.md")]).toEqual([
    "one\n",
    undefined,
    "mine\n",
  ]);
  expect(place.import(sandbox, ["."], 3)).toMatchObject({ checkpoints: 4, alreadyThere: 4, files: 0 });
  expect(sandbox.json(["thread", "01JABC"]).messages).toHaveLength(3);
});

test("[A62] a dialog without sessions has everything in session_1", () => {
  const repository = new LooseRepository(place, `${DIALOG}/checkpoints/.git`);
  const initial = repository.commit({
    tree: repository.tree({ "main.py": "one\n" }),
    parents: [],
    at: AT,
    message: "Initial",
  });
  repository.head("main", initial);
  expect(place.import(sandbox, ["."])).toMatchObject({ checkpoints: 1, skipped: [] });
  expect(sandbox.json(["thread", "01JABC"]).sessions).toMatchObject([
    { name: "session_1", status: "active" },
  ]);
});

test("[N1] missing and altered objects, and paths that lead elsewhere, are named; the rest comes", () => {
  const repository = new LooseRepository(place, `${DIALOG}/checkpoints/.git`);
  const files = {
    "main.py": "one\n",
    "lost.py": "lost\n",
    "../../evil.py": "evil\n",
    ".git/config": "evil\n",
  };
  const commit = repository.commit({
    tree: repository.tree(files),
    parents: ["0".repeat(40)],
    at: AT,
    message: "One",
  });
  repository.head("session_1", commit);
  const lost = repository.object("blob", Buffer.from("lost\n"));
  rmSync(sandbox.path(`${DIALOG}/checkpoints/.git/objects/${lost.slice(0, 2)}/${lost.slice(2)}`));
  place.write(`${DIALOG}/journal.sqlite`, "not a database");
  const { skipped, checkpoints } = place.import(sandbox, ["."], 3);
  expect(checkpoints).toBe(1);
  expect(skipped.map(({ what, reason }: { what: string; reason: string }) => `${what}: ${reason}`)).toEqual([
    expect.stringContaining("journal.sqlite: it cannot be read"),
    "../../evil.py: it leads out of the workspace",
    ".git/config: always: .git",
    `commit ${"0".repeat(40)}: it is missing`,
    `${commit.slice(0, 12)}: lost.py: it is missing`,
  ]);
  sandbox.ok("restore", commit, "--yes");
  expect(sandbox.read("main.py")).toBe("one\n");
});

test("[A62] [R2432] a dialog of before has one branch of any name, or only HEAD", () => {
  for (const [at, dialog] of ["01JOLD", "01JDETACHED"].entries()) {
    const git = `.agentsmithy/dialogs/${dialog}/checkpoints/.git`;
    const repository = new LooseRepository(place, git);
    const tree = repository.tree({ "main.py": `${dialog}\n` });
    const commit = repository.commit({ tree, parents: [], at: AT + at, message: "Before" });
    place.write(`${git}/HEAD`, at === 0 ? "ref: refs/heads/master\n" : `${commit}\n`);
    if (at === 0) repository.head("master", commit);
  }
  expect(place.import(sandbox, ["."])).toMatchObject({ threads: 2, checkpoints: 2, skipped: [] });
  for (const dialog of ["01JOLD", "01JDETACHED"])
    expect(sandbox.json(["list", "--thread", dialog]).checkpoints).toMatchObject([{ session: "session_1" }]);
});

test("[R2432] commits that no branch leads to any more come by what still names them, with their session", () => {
  const commits = writeDialog();
  const git = `${DIALOG}/checkpoints/.git`;
  const repository = new LooseRepository(place, git);
  const abandoned = repository.commit({
    tree: repository.tree({ "main.py": "given up\n" }),
    parents: [commits.approved],
    at: AT + 4,
    message: "Before user message: Try it",
  });
  writeJournal({ ...commits, second: abandoned });
  // the branch was removed, and the metadata lost that commit
  rmSync(sandbox.path(`${git}/refs/heads/session_2`));
  expect(place.import(sandbox, ["."], 3)).toMatchObject({ checkpoints: 5 });
  expect(sandbox.json(["show", abandoned]).checkpoint).toMatchObject({
    kind: "message",
    session: "session_2",
  });
  expect(sandbox.json(["show", commits.second]).checkpoint).toMatchObject({
    description: "Before user message: Go on, and do it well",
  });
  sandbox.ok("restore", abandoned, "--yes");
  expect(sandbox.read("main.py")).toBe("given up\n");
});

test("[R2432] without a journal the branches tell which sessions there were, and which were approved", () => {
  writeDialog();
  expect(place.import(sandbox, ["."])).toMatchObject({ checkpoints: 4, skipped: [] });
  expect(sandbox.json(["thread", "01JABC"])).toMatchObject({
    thread: { session: "session_2" },
    sessions: [
      { name: "session_1", status: "merged" },
      { name: "session_2", status: "active" },
    ],
  });
});

test("[R2602] [A62] a dialog whose repository git cleaned up is read from its packs, deltas included, and nothing is written there", () => {
  const lines = Array.from({ length: 400 }, (_, at) => `line ${at} of the program\n`);
  const repository = new LooseRepository(place, `${DIALOG}/checkpoints/.git`);
  const states = [0, 100, 200, 300].map((at) => lines.toSpliced(at, 1, `changed ${at}\n`).join(""));
  const commits: string[] = [];
  for (const [at, state] of states.entries())
    commits.push(
      repository.commit({
        tree: repository.tree({ "main.py": state, "pkg/mod.py": "mod\n" }),
        parents: commits.slice(-1),
        at: AT + at,
        message: `Before user message: ${at}`,
      }),
    );
  repository.head("main", commits[0]!);
  repository.head("session_1", commits.at(-1)!);
  place.write(`${DIALOG}/checkpoints/.git/HEAD`, "ref: refs/heads/main\n");
  const git = place.path(`${DIALOG}/checkpoints/.git`);
  // made with deltas against each other, and refs in one file
  execFileSync("git", ["--git-dir", git, "gc", "-q", "--prune=now"], { timeout: 30_000 });
  expect(readdirSync(`${git}/objects`).toSorted()).toEqual(["info", "pack"]);
  const before = filesIn(git);
  expect(place.import(sandbox, ["."])).toMatchObject({ threads: 1, checkpoints: 4, skipped: [] });
  expect(filesIn(git)).toEqual(before);
  for (const [at, commit] of commits.entries()) {
    sandbox.ok("restore", commit, "--yes");
    expect([sandbox.read("main.py"), sandbox.read("pkg/mod.py")]).toEqual([states[at], "mod\n"]);
  }
  expect(sandbox.ok("import", ".")).toMatch(
    /4 checkpoints had been imported before\.\n→ `belay threads` shows them; their old ids work/,
  );
});

test("[N1] an object whose file holds another's content is damaged: the commit comes with a gap, and the file on disk stays", () => {
  const repository = new LooseRepository(place, `${DIALOG}/checkpoints/.git`);
  const tree = repository.tree({ "main.py": "then\n", "run.sh": "#!/bin/sh\n" });
  repository.head("main", repository.commit({ tree, parents: [], at: AT, message: "Before" }));
  const pathOf = (hash: string) => `${DIALOG}/checkpoints/.git/objects/${hash.slice(0, 2)}/${hash.slice(2)}`;
  const [wanted, other] = ["then\n", "#!/bin/sh\n"].map((text) =>
    repository.object("blob", Buffer.from(text)),
  );
  copyFileSync(place.path(pathOf(other!)), place.path(pathOf(wanted!)));
  const { checkpoints, skipped } = place.import(sandbox, ["."], 3);
  expect([checkpoints, skipped]).toEqual([
    1,
    [{ what: expect.stringMatching(/: main\.py$/), reason: "its content is damaged" }],
  ]);
  const { id } = sandbox.json(["list", "--thread", "01JABC"]).checkpoints[0];
  sandbox.ok("restore", id, "--yes");
  expect(sandbox.read("main.py")).toBe("now\n");
});

test.each(["cut short", "changed in the middle", "without its index's pack", "with an index that is none"])(
  "[R2602] a pack %s ends nothing: what it holds is skipped, and nothing wrong is taken over",
  (how) => {
    const repository = new LooseRepository(place, `${DIALOG}/checkpoints/.git`);
    const tree = repository.tree({ "main.py": "x".repeat(3000) });
    const commit = repository.commit({ tree, parents: [], at: AT, message: "Before" });
    repository.head("main", commit);
    place.write(`${DIALOG}/checkpoints/.git/HEAD`, "ref: refs/heads/main\n");
    const git = place.path(`${DIALOG}/checkpoints/.git`);
    execFileSync("git", ["--git-dir", git, "gc", "-q", "--prune=now"], { timeout: 30_000 });
    const of = (end: string) =>
      `${git}/objects/pack/${readdirSync(`${git}/objects/pack`).find((name) => name.endsWith(end))!}`;
    const [pack, index] = [of(".pack"), of(".idx")];
    for (const path of [pack, index]) chmodSync(path, 0o644);
    const bytes = readFileSync(pack);
    if (how === "cut short") writeFileSync(pack, bytes.subarray(0, 20));
    if (how === "changed in the middle") writeFileSync(pack, bytes.fill(0x55, 14, bytes.length - 20));
    if (how === "without its index's pack") rmSync(pack);
    if (how === "with an index that is none") writeFileSync(index, "no index");
    const { checkpoints, skipped } = place.import(sandbox, ["."], 3);
    expect(checkpoints).toBe(0);
    expect(skipped.length).toBeGreaterThan(0);
  },
);

test("[R2602] a pack's index that leads to other objects is damage: both files are gaps, and those on disk stay", () => {
  const git = place.path(`${DIALOG}/checkpoints/.git`);
  const repository = new LooseRepository(place, `${DIALOG}/checkpoints/.git`);
  const texts = ["x".repeat(3000), "y".repeat(3000)] as const;
  const tree = repository.tree({ "main.py": texts[0], "notes.md": texts[1] });
  repository.head("main", repository.commit({ tree, parents: [], at: AT, message: "Before" }));
  place.write(`${DIALOG}/checkpoints/.git/HEAD`, "ref: refs/heads/main\n");
  const blobs = texts.map((text) => createHash("sha1").update(`blob ${text.length}\0${text}`).digest());
  execFileSync("git", ["--git-dir", git, "gc", "-q", "--prune=now"], { timeout: 30_000 });
  const name = readdirSync(`${git}/objects/pack`).find((each) => each.endsWith(".idx"))!;
  const index = readFileSync(`${git}/objects/pack/${name}`);
  const [names, count] = [8 + 256 * 4, index.readUInt32BE(8 + 255 * 4)];
  const placeOf = (blob: Buffer) => names + count * 24 + ((index.indexOf(blob, names) - names) / 20) * 4;
  const [one, two] = [placeOf(blobs[0]!), placeOf(blobs[1]!)];
  const [offsetOne, offsetTwo] = [index.readUInt32BE(one), index.readUInt32BE(two)];
  index.writeUInt32BE(offsetTwo, one);
  index.writeUInt32BE(offsetOne, two);
  chmodSync(`${git}/objects/pack/${name}`, 0o644);
  writeFileSync(`${git}/objects/pack/${name}`, index);
  const { checkpoints, skipped } = place.import(sandbox, ["."], 3);
  expect(checkpoints).toBe(1);
  const damaged = { what: expect.any(String), reason: "its content is damaged" };
  expect(skipped).toEqual([damaged, damaged]);
  sandbox.ok("restore", sandbox.json(["list", "--thread", "01JABC"]).checkpoints[0].id, "--yes");
  expect([sandbox.read("main.py"), sandbox.read("notes.md")]).toEqual(["now\n", "mine\n"]);
});

/** Every file with its content. */
function filesIn(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      `${parentPath}/${name}`,
      readFileSync(`${parentPath}/${name}`, "hex"),
    ]),
  );
}
