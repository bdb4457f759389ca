/** What newcomers and slips type: each is answered with what is wrong, what to type, and the exit code of its kind. */
import { randomBytes } from "node:crypto";
import { openWorkspace } from "@belay/engine";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
let before: string;

beforeAll(async () => {
  sandbox = await Sandbox.protected({ "a.txt": "one\n", "src/b.ts": "two\n" });
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  const { id } = await workspace.threads.open({ agent: "claude-code", externalId: "c" });
  await workspace.turns.prompt(id, { content: "Go" });
  sandbox.write("a.txt", "changed\n");
  sandbox.write("bin.dat", randomBytes(3000).toString("latin1"));
  sandbox.remove("src/b.ts");
  await workspace.turns.end(id);
  before = sandbox.ok("list", "--json");
});
afterAll(async () => {
  expect(sandbox.ok("list", "--json")).toBe(before);
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

const NEITHER = /is neither a checkpoint nor a time\. Times are written like/;
const OUTSIDE = /is outside the workspace .*Nothing was changed/;
const NO_NUMBER = /needs a whole number of at least 1, not "/;

test.each<readonly [string[], number, RegExp]>([
  [["show", "T99"], 4, /There is no turn T99.*\n.*`belay log` shows the turns/],
  [["show", "T0"], 4, /There is no turn T0/],
  [["show", "t1"], 4, /Turns are written T1/],
  [["show", "@turn-99"], 4, /There is no turn @turn-99/],
  [["show", "@turn-x"], 4, NEITHER],
  [["show", "@25:99"], 4, NEITHER],
  [["show", "@2026-02-30"], 4, NEITHER],
  [["show", "@99999999999999999999d"], 4, NEITHER],
  [["show", "@-5m"], 4, /A time ago is written @5m/],
  [["show", "@-99"], 4, /There is no checkpoint "@-99"/],
  [["show", "99999999999999999999"], 4, /There is no checkpoint/],
  [["show", ""], 4, /There is no checkpoint ""/],
  [["show", "1", "2"], 2, /Unexpected argument "2"/],
  [["log", "-n", "0"], 2, NO_NUMBER],
  [["log", "-n", "1.5"], 2, NO_NUMBER],
  [["log", "-n", ""], 2, NO_NUMBER],
  [["log", "-n", "99999999999999999999"], 2, /needs a smaller number/],
  [["log", "--since", "banana"], 2, /"banana" is not a time/],
  [["log", "--agent", ""], 2, /--agent needs a name/],
  [["log", "--thread", "zzz"], 4, /There is no thread "zzz"/],
  [["log", "before:xx"], 2, /"before:xx" means nothing[^]*yesterday/],
  [["log", "is:nonsense"], 2, /"is:nonsense" means nothing[^]*is:undone/],
  [["log", "kind:walrus"], 2, /kind:turn/],
  [["log", "-p", "--stat"], 2, /cannot be combined/],
  [["cat", "1"], 2, /Usage: belay cat <checkpoint> <path>/],
  [["cat", "1", ""], 2, /A path is empty/],
  [["cat", "1", "."], 4, /\. is a directory in checkpoint 1/],
  [["cat", "1", "src"], 4, /src is a directory.*\n.*`belay files 1 src`/],
  [["cat", "1", "../../etc/passwd"], 2, OUTSIDE],
  [["cat", "1", "/etc/passwd"], 2, OUTSIDE],
  [["cat", "1", "a.txt/x"], 4, /Did you mean a\.txt\?/],
  [["cat", "@", "src/b.ts"], 4, /is the last that has it: `belay cat \d+ src\/b\.ts`/],
  [["files", "99"], 4, /There is no checkpoint "99"/],
  [["files", "1", "nope"], 4, /has no file at nope/],
  [["files", "1", "../.."], 2, OUTSIDE],
  [["search", " "], 2, /The search text is empty/],
  [["search", "x", "before:never"], 2, /"before:never" means nothing[^]*yesterday/],
  [["search", "is:nonsense"], 2, /is:undone/],
  [["handoff", "--take", "nope"], 4, /This workspace has no remote/],
  [["handoff", "--take", "team/"], 2, /"team\/" names no thread/],
  [["handoff", "--take", "team/x"], 4, /There is no remote "team"/],
  [["status", "--nope"], 2, /Unknown option --nope\.\n→ Add --help/],
  [["-C", "/no/such/place", "status"], 4, /\/no\/such\/place does not exist, and was not protected/],
  [["search", "-S", ""], 2, /needs something to look for/],
  [["search", "-G", "["], 2, /is not a regular expression/],
  [["search", "-S", "x", "-G", "y"], 2, /cannot be combined/],
  [["search", "-S", "one", "../.."], 2, OUTSIDE],
  [["prune", "--older-than", "banana"], 2, /is not a duration\. Nothing was changed/],
  [["prune", "--older-than", "0d"], 2, /is not a duration/],
  [["prune", "--keep-last", "x"], 2, NO_NUMBER],
  [["prune", "--policy", "nope"], 2, /Policies: default, /],
  [["prune", "--undo", "--dry-run"], 2, /cannot be combined/],
  [["stats", "--by", "nope"], 2, /--by takes thread, directory, kind/],
  [["completion"], 2, /Usage: belay completion/],
  [["completion", "nosuch"], 2, /Shells: bash, zsh, fish/],
  [["diff", "nope.txt"], 2, /is neither a checkpoint nor a file here/],
  [["checkpoint", "before", "lunch"], 2, /A name goes after -m: `belay checkpoint -m 'before lunch'`/],
  [["rename", "1", "T3"], 2, /is the name of a turn[^]*Try "v-T3"/],
  [["diff", "1", "2", "3"], 2, /at most two checkpoints/],
  [["diff", "../.."], 2, OUTSIDE],
  [["undo", "0"], 2, /"0" is not a number of steps/],
  [["undo", "99", "--yes"], 3, /There is only 1 step, not 99/],
  [["restore", "T1", ""], 2, /A path is empty/],
  [["config", "notices.desktop", "maybe"], 2, /it must be one of on, off/],
  [["config", "runs.jobs", "2"], 2, /written by hand.*\n→ In .*config\.json: \{ "runs": \{ "jobs": … \} \}/],
])("[R315] belay %j ends with %i and says what is wrong", (args, exit, said) => {
  const { status, stdout, stderr } = sandbox.belay(args, { env: { BELAY_RESIDENT: "off" } });
  expect([status, stdout]).toEqual([exit, ""]);
  expect(stderr).toMatch(said);
  expect(stderr).not.toMatch(/\bat .*\.[jt]s:\d|undefined|\[object/);
});
