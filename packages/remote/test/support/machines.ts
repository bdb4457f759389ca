/** Machines of a test: homes, workspaces and one remote, all real but the server. */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { initWorkspace, receiveWorkspace, type Workspace } from "@belay/engine";
import { onTestFinished } from "vitest";
import { addRemote } from "../../src/sync/add-remote.ts";
import { cloneLine } from "../../src/sync/clone-line.ts";
import { openExchange, type PushedLine } from "../../src/sync/remote.ts";
import type { RemoteHost } from "../../src/sync/remote-host.ts";
import { openMembers, type SpaceMembers } from "../../src/sync/members.ts";
import type { Role } from "../../src/keys/roles.ts";
import type { RemoteStore } from "../../src/stores/remote-store.ts";
import { formatRecoveryKey } from "../../src/keys/recovery-key.ts";

/** A directory that is removed when the test ends. */
function scratch(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `belay-remote-${name}-`));
  Machine.atEnd(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A home with a workspace, and a server that it reaches. */
export class Machine {
  /** What ends a machine is done when the test ends; other programs say when that is. */
  static atEnd: (work: () => unknown) => void = (work) => onTestFinished(() => void work());

  readonly home: string;
  readonly root: string;
  host: RemoteHost;
  workspace!: Workspace;
  recoveryKey = "";

  constructor(store: () => RemoteStore, name = "ana", home?: string) {
    const at = scratch(name);
    this.home = home ?? join(at, "home");
    this.root = join(at, "work");
    mkdirSync(this.root);
    this.host = {
      home: this.home,
      device: `${name}-laptop`,
      user: name,
      around: { now: Date.now, random: randomBytes, sleep: async () => undefined },
      connect: store,
    };
  }

  write(files: Readonly<Record<string, string | Buffer>>): void {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.root, name)), { recursive: true });
      writeFileSync(join(this.root, name), content);
    }
  }

  async init(): Promise<this> {
    ({ workspace: this.workspace } = await initWorkspace(this.root, { home: this.home }));
    Machine.atEnd(() => this.workspace.close());
    return this;
  }

  async add(url = "s3://bucket/team"): Promise<this> {
    await addRemote(
      this.workspace,
      {
        name: "team",
        url,
        recoveryKey: this.recoveryKey || undefined,
        keepRecoveryKey: async (seed) => {
          this.recoveryKey = formatRecoveryKey(seed);
          return true;
        },
      },
      this.host,
    );
    return this;
  }

  /** A machine with files of its own that joins by an invitation. */
  async invited(store: () => RemoteStore, name: string, role: Role): Promise<Machine> {
    const { text } = await this.members().invite({ role, ttlMs: 3_600_000 });
    const other = new Machine(store, name);
    other.write({ [`${name}.txt`]: `of ${name}\n` });
    return (await other.init()).add(text);
  }

  members(): SpaceMembers {
    return openMembers(this.workspace, undefined, this.host);
  }

  async push(): Promise<PushedLine> {
    using remote = openExchange(this.workspace, undefined, this.host);
    return await remote.push();
  }

  async pull() {
    using remote = openExchange(this.workspace, undefined, this.host);
    return await remote.pull();
  }

  async fetch(reference: string) {
    using remote = openExchange(this.workspace, undefined, this.host);
    return await remote.fetch(reference);
  }

  async verify(repair = false) {
    using remote = openExchange(this.workspace, undefined, this.host);
    return await remote.verify({ share: 1, repair });
  }

  /** A machine with a clone of a line. */
  async clone(store: () => RemoteStore, options: { name?: string; line?: string } = {}): Promise<Machine> {
    const other = new Machine(store, options.name ?? "bob");
    await other.receive(this.recoveryKey, options.line);
    return other;
  }

  /** Called before the content of another member is first taken in. */
  mayReceive: ((writer: string) => Promise<boolean>) | undefined;

  async receive(recoveryKey: string | undefined, line?: string): Promise<void> {
    const request = {
      url: "s3://bucket/team",
      name: "team",
      directory: this.root,
      recoveryKey,
      line,
      mayReceive: this.mayReceive,
    };
    const cloned = await cloneLine(request, this.host, (fill) =>
      receiveWorkspace(this.root, fill, { home: this.home }),
    );
    this.workspace = cloned.workspace;
    this.recoveryKey = recoveryKey ?? "";
    Machine.atEnd(() => this.workspace.close());
  }
}

/** Every file below a directory, with its content and mode. */
export function filesBelow(root: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile())
      files[relative(root, path)] = `${statSync(path).mode & 0o777} ${readFileSync(path).toString("base64")}`;
  }
  return files;
}

/** The checkpoints of a machine, without what each machine says for itself: whether its own remote has them. */
export async function checkpointsOf({ workspace }: Machine): Promise<object[]> {
  return (await workspace.list()).map((checkpoint) => ({ ...checkpoint, synced: null }));
}
