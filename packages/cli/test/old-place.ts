/** Writes data of other programs in their formats, and proves that an import only read it. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";
import { expect } from "vitest";
import { describeTree } from "./describe-tree.ts";
import type { Sandbox } from "./sandbox.ts";

export class OldPlace {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true });
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  write(name: string, content: string | Buffer): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
  }

  json(name: string, value: unknown): void {
    this.write(name, JSON.stringify(value));
  }

  /** Runs an import and checks that nothing in the old place changed; returns its JSON. */
  import(sandbox: Sandbox, args: readonly string[], status = 0) {
    const before = describeTree(this.directory);
    const said = sandbox.json(["import", ...args], status);
    expect(describeTree(this.directory)).toEqual(before);
    return said;
  }
}

export function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** A git repository of loose objects, written without git: its trees may have names with slashes. */
export class LooseRepository {
  readonly #place: OldPlace;
  readonly #prefix: string;

  constructor(place: OldPlace, prefix: string) {
    this.#place = place;
    this.#prefix = prefix;
  }

  object(kind: "blob" | "tree" | "commit", content: Buffer): string {
    const bytes = Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content]);
    const hash = createHash("sha1").update(bytes).digest("hex");
    this.#place.write(`${this.#prefix}/objects/${hash.slice(0, 2)}/${hash.slice(2)}`, deflateSync(bytes));
    return hash;
  }

  tree(
    files: Readonly<Record<string, string | Buffer>>,
    modes: Readonly<Record<string, number>> = {},
  ): string {
    const entries = Object.entries(files).map(([name, content]) => {
      const blob = this.object("blob", Buffer.from(content));
      const mode = (modes[name] ?? 0o100644).toString(8);
      return Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(blob, "hex")]);
    });
    return this.object("tree", Buffer.concat(entries));
  }

  commit(facts: { tree: string; parents: readonly string[]; at: number; message: string }): string {
    const who = `AgentSmithy Versioning <versioning@agentsmithy.local> ${facts.at} +0000`;
    const lines = [
      `tree ${facts.tree}`,
      ...facts.parents.map((parent) => `parent ${parent}`),
      `author ${who}`,
      `committer ${who}`,
      "",
      facts.message,
    ];
    return this.object("commit", Buffer.from(lines.join("\n")));
  }

  head(name: string, commit: string): void {
    this.#place.write(`${this.#prefix}/refs/heads/${name}`, `${commit}\n`);
  }
}
