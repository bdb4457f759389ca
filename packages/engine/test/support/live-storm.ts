/** A process that changes a tree at full speed: `live-storm.ts <root> <seed> <operations> <burst>`. */
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createSeededRandom } from "./seeded-random.ts";

const [root, seed, operations, burst] = process.argv.slice(2) as [string, string, string, string];
const random = createSeededRandom(Number(seed));

const NAMES = ["a", "b", "c", "d", "e", "f", "out", "x.log", "y.log", "ä", ".env", "data.db"];
const PATTERNS = ["*.log", "out/", "a", "!x.log", "/b/*", "d/**/e", ""];

/** A path some levels deep; most of it may not exist. */
function path(): string {
  const depth = 1 + random.below(4);
  return join(root, ...Array.from({ length: depth }, () => random.pick(NAMES)));
}

const forced = { recursive: true, force: true } as const;

/** Whatever an agent's shell may do. Several processes do it at once, so anything may fail. */
const OPERATIONS: readonly (() => void)[] = [
  () => writeFileSync(path(), `${random.below(1e9)}`),
  () => writeFileSync(path(), "x".repeat(random.below(5000))),
  () => appendFileSync(path(), "more"),
  () => mkdirSync(path(), { recursive: true }),
  () => mkdirSync(path(), { recursive: true }),
  () => plant(path(), 2),
  () => rmSync(path(), forced),
  () => renameSync(path(), path()),
  () => renameSync(path(), path()),
  () => swapKind(path()),
  () => chmodSync(path(), random.pick([0o644, 0o755, 0o600])),
  () => utimesSync(path(), 1e9 + random.below(1e6), 1e9),
  () => recreate(path()),
  () => (random.below(20) === 0 ? writeFileSync(ignoreFile(), ignoreRules()) : undefined),
  () => (random.below(40) === 0 ? rmSync(ignoreFile(), forced) : undefined),
];

function ignoreFile(): string {
  return join(random.below(2) === 0 ? root : path(), random.pick([".gitignore", ".belayignore"]));
}

function ignoreRules(): string {
  return Array.from({ length: 1 + random.below(3) }, () => random.pick(PATTERNS)).join("\n");
}

/** A directory with directories in it, all at once. */
function plant(place: string, depth: number): void {
  mkdirSync(place, { recursive: true });
  for (let i = 0; i < 3; i += 1) writeFileSync(join(place, random.pick(NAMES)), `${random.below(1e9)}`);
  if (depth > 0) plant(join(place, `sub${random.below(3)}`), depth - 1);
}

function swapKind(place: string): void {
  rmSync(place, forced);
  const kind = random.below(3);
  if (kind === 0) writeFileSync(place, "a file now");
  else if (kind === 1) mkdirSync(place);
  else symlinkSync(random.pick(["a", "../b", "nowhere"]), place);
}

/** Gone and back: the inode may well be the same. */
function recreate(place: string): void {
  const names = readdirSync(place);
  rmSync(place, forced);
  mkdirSync(place);
  for (const name of names) writeFileSync(join(place, name), `again ${random.below(1e9)}`);
}

for (let done = 0; done < Number(operations); done += 1) {
  try {
    random.pick(OPERATIONS)();
  } catch {
    // another writer was there first
  }
}

// more events than the kernel's queue holds
const crowd = join(root, "crowd");
for (let done = 0; done < Number(burst); done += 1) {
  if (done % 3000 === 0) rmSync(crowd, forced);
  mkdirSync(crowd, { recursive: true });
  writeFileSync(join(crowd, `${done % 3000}`), `${done}`);
}
