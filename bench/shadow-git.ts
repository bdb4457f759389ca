/** The sequence with which other tools take a checkpoint: `add -A`, `write-tree`, `commit-tree` in a repository of its own. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";

export class ShadowGit {
  readonly #env: NodeJS.ProcessEnv;
  readonly directory: string;
  #parent: string | undefined;

  constructor(directory: string, root: string) {
    this.directory = directory;
    const identity = {
      GIT_AUTHOR_NAME: "b",
      GIT_AUTHOR_EMAIL: "b@b",
      GIT_COMMITTER_NAME: "b",
      GIT_COMMITTER_EMAIL: "b@b",
    };
    this.#env = {
      ...process.env,
      ...identity,
      GIT_DIR: directory,
      GIT_WORK_TREE: root,
      GIT_CONFIG_GLOBAL: "/dev/null",
    };
  }

  create(): void {
    rmSync(this.directory, { recursive: true, force: true });
    this.#git("init", "-q");
    this.#parent = undefined;
  }

  checkpoint(): string {
    this.#git("add", "-A");
    const tree = this.#git("write-tree");
    const parents = this.#parent === undefined ? [] : ["-p", this.#parent];
    this.#parent = this.#git("commit-tree", tree, ...parents, "-m", "checkpoint");
    return this.#parent;
  }

  /** The usual way back: index and files from the checkpoint. */
  restore(commit: string): void {
    this.#git("read-tree", "-u", "--reset", commit);
  }

  collectGarbage(): void {
    this.#git("update-ref", "refs/heads/checkpoints", this.#parent!);
    this.#git("gc", "-q", "--prune=now");
  }

  /** The commits that brought or took out a text, or a line that matches. */
  search(option: "-S" | "-G", text: string): string {
    return this.#git("log", "--oneline", option, text, "refs/heads/checkpoints");
  }

  #git(...args: string[]): string {
    return execFileSync("git", args, { env: this.#env, encoding: "utf8", maxBuffer: 1 << 28 }).trim();
  }
}
