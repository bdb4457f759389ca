/** What shells offer: asked of the command itself, and by pressing Tab in real shells. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";
import { hasTmux, TmuxWindow } from "./tmux-window.ts";

const hasShell = (shell: string) => spawnSync(shell, ["-c", "true"]).status === 0;

let sandbox: Sandbox;
let thread: string;

beforeAll(async () => {
  sandbox = await Sandbox.protected();
  sandbox.ok("run", "--", "sh", "-c", "echo 1 > made.txt; rm src/b.txt");
  await sandbox.checkpoint({ name: "odd: it's one" });
  await sandbox.checkpoint({ name: "before the party", tags: ["works"] });
  thread = sandbox.json(["threads"]).threads[0].id;
  mkdirSync(join(sandbox.base, "programs"));
  const script = `#!/bin/sh\nexec '${process.execPath}' '${LAUNCHER}' "$@"\n`;
  writeFileSync(join(sandbox.base, "programs", "belay"), script, { mode: 0o755 });
});
afterAll(async () => {
  sandbox.belay(["stop"]);
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

const environment = (): NodeJS.ProcessEnv => ({
  ...sandbox.environment,
  PATH: `${join(sandbox.base, "programs")}:${process.env["PATH"]}`,
  BELAY_RESIDENT: "off",
  TERM: "xterm",
});

/** The words that are offered at the end of a line, without their descriptions. */
function offered(...words: string[]): string[] {
  const lines = sandbox.ok("complete", "--", ...words).trimEnd();
  return lines === "" ? [] : lines.split("\n").map((line) => line.split("\t")[0]!);
}

describe("[R265] at the end of a line there are", () => {
  test("commands with their short names, and only those that begin so", () => {
    expect(offered("")).toEqual(expect.arrayContaining(["undo", "status", "st", "list", "ls", "help"]));
    expect(offered("")).not.toContain("hook");
    expect(offered("un")).toEqual(["undo", "untag", "uninstall"]);
    expect(offered("help", "comp")).toEqual(["completion"]);
    expect(offered("--no-pager", "ver")).toEqual(["verify", "version"]);
  });

  test("options that were not given yet, the general ones included", () => {
    expect(offered("restore", "1", "--d")).toEqual(["--directory", "--dry-run"]);
    expect(offered("restore", "1", "--dry-run", "--dr")).toEqual([]);
    expect(offered("--no")).toEqual(["--no-color", "--no-pager"]);
    expect(offered("diff", "--", "--st")).not.toContain("--stat");
  });

  test("checkpoints: names, tags, rows; numbers and ids by their beginning", () => {
    expect(offered("show", "")).toEqual(expect.arrayContaining(["@", "before the party", "works", "T1"]));
    expect(offered("restore", "bef")).toEqual(["before the party"]);
    expect(offered("show", "2")).toEqual(["2"]);
    const { id } = sandbox.json(["list", "--limit", "1"]).checkpoints[0];
    expect(offered("diff", "1", id.slice(0, 5))).toEqual([id]);
  });

  test("threads, tags, settings, workspaces, shells and the values of options", () => {
    expect(offered("thread", "")).toEqual([thread.slice(0, 8)]);
    expect(offered("list", "--thread", "")).toEqual([thread.slice(0, 8)]);
    expect(offered("list", "--thread=")).toEqual([`--thread=${thread.slice(0, 8)}`]);
    expect(offered("untag", "")).toEqual(["works"]);
    expect(offered("config", "limits.f")).toContain("limits.fileBytes");
    expect(offered("attach", "")).toHaveLength(1);
    expect(offered("completion", "")).toEqual(["bash", "zsh", "fish"]);
    expect(offered("--color", "")).toEqual(["auto", "always", "never"]);
  });

  test("paths: those that differ from the checkpoint, gone ones too, and the shell's own", () => {
    expect(offered("restore", "1", "")).toEqual(["made.txt", "src/b.txt", ":files"]);
    expect(offered("restore", "1", "src/")).toEqual(["src/b.txt", ":files"]);
    expect(offered("diff", "--", "")).toContain(":files");
  });

  test("no errors: an unknown command, a directory that is not protected, a broken line", () => {
    expect(offered("frobnicate", "")).toEqual([]);
    expect(offered("-C", "/", "show", "")).toEqual([]);
    expect(offered("show", "x", "y", "")).toEqual([]);
    expect(offered("-C", sandbox.project, "untag", "")).toEqual(["works"]);
  });
});

describe.skipIf(!hasShell("bash"))("[R265] bash", () => {
  /** What bash would offer for this line: its own words, split as it splits them. */
  const reply = (line: string, words: readonly string[]) => {
    const quoted = words.map((word) => `'${word}'`).join(" ");
    const script = [
      'eval "$(belay completion bash)"',
      `COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDS=(${quoted}) COMP_CWORD=${words.length - 1}`,
      "_belay",
      `printf '%s\\n' "\${COMPREPLY[@]}"`,
    ].join("\n");
    const ran = spawnSync("bash", ["-c", script], {
      cwd: sandbox.project,
      env: environment(),
      encoding: "utf8",
    });
    expect(ran.stderr).toBe("");
    return ran.stdout.trimEnd().split("\n");
  };

  test("is registered, and offers words quoted and without what it keeps itself", () => {
    expect(reply("belay und", ["belay", "und"])).toEqual(["undo"]);
    expect(reply("belay show bef", ["belay", "show", "bef"])).toEqual(["before\\ the\\ party"]);
    expect(reply("belay list --color=al", ["belay", "list", "--color", "=", "al"])).toEqual(["always"]);
    expect(reply("belay show @", ["belay", "show", "@"])).toEqual(["turn"]);
    expect(reply("belay restore 1 src/b", ["belay", "restore", "1", "src/b"])).toEqual(["src/b.txt"]);
  });
});

/** Without a file of the user's own, and with the completion that `belay completion` prints. */
const SHELLS = {
  bash: ["bash", "--norc", "--noprofile", "-i"],
  zsh: ["zsh", "-f", "-i"],
  fish: ["fish", "--no-config", "-i"],
} as const;
const LOADED = {
  bash: 'eval "$(belay completion bash)"',
  zsh: 'autoload -Uz compinit; compinit -u -D; eval "$(belay completion zsh)"',
  fish: "belay completion fish | source",
} as const;

describe.each(Object.keys(SHELLS) as (keyof typeof SHELLS)[])("[R265] Tab in %s", (shell) => {
  test.skipIf(!hasTmux || !hasShell(shell))(
    "completes a command, an option, names with anything in them, a tag and a deleted file",
    async () => {
      using window = new TmuxWindow(SHELLS[shell], { cwd: sandbox.project, env: environment() });
      const types = async (line: string, completed: RegExp) => {
        window.type("C-u", line, "Tab");
        await expect.poll(() => window.screen().split("\n").at(-1)).toMatch(completed);
        window.type("C-u");
      };
      window.type(LOADED[shell], "Enter");
      window.type("clear; echo ready", "Enter");
      await expect.poll(() => window.screen()).toMatch(/^ready$/m);
      await types("belay verif", /belay verify ?$/);
      await types("belay restore 1 --keep", /--keep-new ?$/);
      await types("belay show bef", /before\\ the\\ party|'before the party'/);
      await types("belay show odd", /odd\\?:\\ it\\'s\\ one/);
      await types("belay untag wo", /untag works ?$/);
      await types("belay restore 1 src/b", /src\/b\.txt ?$/);
    },
  );
});

describe("[R265] --install", () => {
  test.each([
    ["bash", ".local/share/bash-completion/completions/belay"],
    ["zsh", ".local/share/zsh/site-functions/_belay"],
    ["fish", ".config/fish/completions/belay.fish"],
  ])("%s: writes the script where the shell looks, and says where", (shell, place) => {
    const path = join(sandbox.base, place);
    const { XDG_DATA_HOME: _, XDG_CONFIG_HOME: __, ...env } = sandbox.environment;
    const install = (...more: string[]) =>
      sandbox.belay(["completion", shell, "--install", ...more], {
        env: { ...env, XDG_DATA_HOME: "", XDG_CONFIG_HOME: "" },
      });
    expect(install().stdout).toContain(path);
    expect(readFileSync(path, "utf8").trimEnd()).toBe(sandbox.ok("completion", shell).trimEnd());
    expect(install().status).toBe(0);
    writeFileSync(path, "mine\n");
    const refused = install();
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain("Nothing was written");
    expect(readFileSync(path, "utf8")).toBe("mine\n");
    expect(install("--yes").status).toBe(0);
    expect(existsSync(dirname(path))).toBe(true);
  });

  test("another shell is refused", () => {
    expect(sandbox.error(["completion", "tcsh"], 2).hint).toContain("bash, zsh, fish");
  });
});
