/**
 * Exports a thread as a new git repository: `main` is what was approved, each session a branch, each approval
 * a merge. Or all branches, each as a branch of the same name. It is written through `git fast-import` into a new directory, unrelated to the user's repository.
 */
import { redact } from "@belay/protocol/redact";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import type { Checkpoint, Session, ThreadSummary, Workspace } from "@belay/engine";

/** Larger files are left out and named in the commit message. */
const LARGEST_BYTES = 256 * 1024 * 1024;
const IDENTITY = "Belay <belay@localhost>";

/** A branch of the exported repository. */
export interface ExportedBranch {
  readonly branch: string;
  readonly commits: number;
}

/** Writes the repository of a thread, or of all branches, and returns its branches. */
export async function exportRepository(
  workspace: Workspace,
  thread: ThreadSummary | null,
  directory: string,
): Promise<ExportedBranch[]> {
  run(directory, ["init", "-q", "-b", "main"]);
  const git = spawn("git", ["fast-import", "--quiet"], {
    cwd: directory,
    env: environment(),
    stdio: ["pipe", "ignore", "pipe"],
  });
  let complaint = "";
  git.stderr.on("data", (piece: Buffer) => (complaint += piece.toString()));
  git.stdin.on("error", () => undefined);
  const writer = new Writer(workspace, async (bytes) => {
    if (!git.stdin.write(bytes)) await once(git.stdin, "drain");
  });
  const branches = await (thread === null ? writer.writeBranches() : writer.write(thread));
  git.stdin.end();
  const [status] = (await once(git, "exit")) as [number];
  if (status !== 0) throw new Error(`git fast-import failed: ${complaint.trim()}`);
  run(directory, ["reset", "-q", "--hard", "main"]);
  return branches;
}

/** The environment without variables that point git at another repository. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  return { ...Object.fromEntries(own), GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
}

function run(directory: string, args: readonly string[]): void {
  const done = spawnSync("git", args, { cwd: directory, env: environment(), encoding: "utf8" });
  if (done.status !== 0)
    throw new Error(`git ${args[0]} failed: ${done.stderr ?? done.error?.message ?? ""}`);
}

/** A written commit: its mark and the checkpoint whose tree it has. */
interface Written {
  readonly mark: number;
  readonly checkpoint: string;
}

interface Commit {
  readonly branch: string;
  readonly checkpoint: Checkpoint;
  readonly message: string;
  readonly from: Written | undefined;
  readonly merged?: Written | undefined;
}

class Writer {
  readonly #workspace: Workspace;
  readonly #put: (bytes: string | Buffer) => Promise<void>;
  #marks = 0;

  constructor(workspace: Workspace, put: (bytes: string | Buffer) => Promise<void>) {
    this.#workspace = workspace;
    this.#put = put;
  }

  async write(thread: ThreadSummary): Promise<ExportedBranch[]> {
    const sessions = await this.#workspace.approvals.sessions(thread.id);
    const checkpoints = (await this.#workspace.list({ thread: thread.id })).reverse();
    const base = await this.#first(sessions, checkpoints);
    if (base === undefined) return [];
    let main = await this.#commit({
      branch: "main",
      checkpoint: base,
      message: messageOf(base),
      from: undefined,
    });
    const branches = [{ branch: "main", commits: 1 }];
    for (const session of sessions) {
      // an approval is the merge into main
      const own = checkpoints.filter(
        (each) => each.session === session.name && each.kind !== "approve" && each.id !== base.id,
      );
      const head = await this.#session(session, own, main);
      branches.push({ branch: session.name, commits: own.length });
      if (session.status !== "merged" || session.approved === null) continue;
      main = await this.#commit({
        branch: "main",
        checkpoint: await this.#workspace.resolve(session.approved),
        message: redact(session.message ?? "Approved session"),
        from: main,
        merged: head,
      });
      branches[0]!.commits += 1;
    }
    return branches;
  }

  /** Each branch goes on from the commit of the checkpoint where it left its parent. */
  async writeBranches(): Promise<ExportedBranch[]> {
    const written = new Map<string, Written>();
    const branches: ExportedBranch[] = [];
    for (const { name } of await this.#workspace.branches()) {
      let head: Written | undefined;
      let commits = 0;
      for (const checkpoint of (await this.#workspace.list({ branch: name })).reverse()) {
        const known = written.get(checkpoint.id);
        head =
          known ??
          (await this.#commit({ branch: name, checkpoint, message: messageOf(checkpoint), from: head }));
        written.set(checkpoint.id, head);
        if (known === undefined) commits += 1;
      }
      if (commits === 0 && head !== undefined)
        await this.#put(`reset refs/heads/${name}\nfrom :${head.mark}\n\n`);
      if (head !== undefined) branches.push({ branch: name, commits });
    }
    return branches;
  }

  /** The state the thread began with. */
  async #first(
    sessions: readonly Session[],
    checkpoints: readonly Checkpoint[],
  ): Promise<Checkpoint | undefined> {
    const base = sessions[0]?.base ?? null;
    return base === null ? checkpoints[0] : this.#workspace.resolve(base);
  }

  async #session({ name }: Session, checkpoints: readonly Checkpoint[], main: Written): Promise<Written> {
    let head = main;
    for (const checkpoint of checkpoints)
      head = await this.#commit({ branch: name, checkpoint, message: messageOf(checkpoint), from: head });
    if (checkpoints.length === 0) await this.#put(`reset refs/heads/${name}\nfrom :${main.mark}\n\n`);
    return head;
  }

  async #commit({ branch, checkpoint, message, from, merged }: Commit): Promise<Written> {
    this.#marks += 1;
    const mark = this.#marks;
    const text = Buffer.from(`${message}\n`);
    const when = `${Math.floor(checkpoint.createdAt / 1000)} +0000`;
    await this.#put(`commit refs/heads/${branch}\nmark :${mark}\ncommitter ${IDENTITY} ${when}\n`);
    await this.#put(Buffer.concat([Buffer.from(`data ${text.length}\n`), text, Buffer.from("\n")]));
    if (from !== undefined) await this.#put(`from :${from.mark}\n`);
    if (merged !== undefined && merged.mark !== from?.mark) await this.#put(`merge :${merged.mark}\n`);
    await (from === undefined ? this.#allFiles(checkpoint) : this.#changes(from.checkpoint, checkpoint));
    await this.#put("\n");
    return { mark, checkpoint: checkpoint.id };
  }

  async #allFiles({ id }: Checkpoint): Promise<void> {
    for await (const { path, kind, mode, size, content } of this.#workspace.files(id)) {
      if (kind === "directory" || size > LARGEST_BYTES) continue;
      await this.#file(path, gitMode(kind, mode), Buffer.concat([...content()]));
    }
  }

  async #changes(from: string, { id }: Checkpoint): Promise<void> {
    const { files } = await this.#workspace.diff({ from, to: id, detail: "names" });
    for (const { path, from: old } of files) {
      if (old !== undefined) await this.#put(`D ${quoted(old)}\n`);
      const file = await this.#workspace.file(id, path, LARGEST_BYTES);
      if (file === null) await this.#put(`D ${quoted(path)}\n`);
      else if (file.content !== null) await this.#file(path, gitMode(file.kind, file.mode), file.content);
    }
  }

  async #file(path: string, mode: string, content: Buffer): Promise<void> {
    await this.#put(`M ${mode} inline ${quoted(path)}\ndata ${content.length}\n`);
    await this.#put(content);
    await this.#put("\n");
  }
}

function gitMode(kind: "file" | "symlink", mode: number): string {
  if (kind === "symlink") return "120000";
  return (mode & 0o100) === 0 ? "100644" : "100755";
}

/** The commit message: description, note and annotations of the checkpoint. */
function messageOf({ description, name, note, id, tags }: Checkpoint): string {
  const trailers = [
    `Belay-Checkpoint: ${id}`,
    ...(name === null ? [] : [`Belay-Name: ${name}`]),
    ...tags.map((tag) => `Belay-Tag: ${tag}`),
  ];
  // a repository is made to be passed on
  return redact([description, ...(note === null ? [] : [note]), trailers.join("\n")].join("\n\n"));
}

/** A name in fast-import's form: quoted, with non-plain bytes in octal. */
function quoted(path: string): string {
  const bytes = [...Buffer.from(path, "latin1")].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c
      ? `\\${byte.toString(8).padStart(3, "0")}`
      : String.fromCharCode(byte),
  );
  return `"${bytes.join("")}"`;
}
