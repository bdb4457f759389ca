import { existsSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { ThreadImport, Workspace } from "@belay/engine";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { count, size } from "@belay/tui/text";
import { defineCommand, DRY_RUN, type Call } from "../call/command.ts";
import type { FoundHistory } from "../imports/importer.ts";
import type { Skipped } from "../imports/old-data.ts";
import { takeHistory } from "../imports/take-history.ts";
import { visible } from "../output/visible.ts";
import { warnAll, withWorkspace } from "../wiring/open-workspace.ts";

const OPTIONS = {
  into: {
    type: "string",
    value: "directory",
    about: "the workspace that takes it, where the data names none",
  },
  "dry-run": DRY_RUN,
} as const;

type ImportCall = Call<typeof OPTIONS>;

export default defineCommand({
  usage: "import [kind] <path> [--into directory] [--dry-run]",
  about: [
    "Takes over the history that another program left on disk, so that it can be restored here: agentsmithy,",
    "code-buddy, mimir, moldable, supervisor, a bundle of `belay export --thread <thread> --bundle <file>`, or the ghosts in",
    "a project's repository whose checkpoints are gone (ghost). Without a kind it looks which one it is. The old place is only read. The old ids keep their meaning: `belay restore <old id>` works.",
    "What cannot be had is listed with its reason. Importing twice changes nothing.",
  ].join("\n"),
  options: OPTIONS,
  operands: { min: 1, max: 2 },
  exits: { 3: "imported, but something was skipped" },
  examples: ["belay import mimir . --dry-run", "belay import ."],
  run: async (call) => {
    const { kind, path } = operandsOf(call);
    const skipped: Skipped[] = [];
    const report = statSync(path).isFile()
      ? await importBundle(call, { kind, path }, skipped)
      : await importData(call, { kind, path }, skipped);
    return tell(call, { ...report, skipped });
  },
});

/** What was imported, or would be. */
interface Report {
  readonly kind: string;
  readonly places: readonly { readonly id: string | null; readonly root: string }[];
  readonly threads: number;
  readonly checkpoints: number;
  readonly alreadyThere: number;
  readonly files: number;
  readonly bytes: number;
}

interface Place {
  readonly kind: string | undefined;
  readonly path: string;
}

const KINDS = ["agentsmithy", "bundle", "code-buddy", "ghost", "mimir", "moldable", "supervisor"];

function operandsOf(call: ImportCall): Place {
  const [first = "", second] = call.operands;
  const [kind, given] = second === undefined ? [undefined, first] : [first, second];
  if (kind !== undefined && !KINDS.includes(kind))
    throw usageError(`There is no importer called ${visible(kind)}.`, `The kinds are: ${KINDS.join(", ")}.`);
  const path = resolve(call.directory, given);
  if (!existsSync(path))
    throw usageError(`${visible(given)} does not exist.`, "Name what is to be imported.");
  return { kind, path: realpathSync(path) };
}

async function importData(call: ImportCall, place: Place, skipped: Skipped[]): Promise<Report> {
  const [{ OldData }, { IMPORTERS }] = await Promise.all([
    import("../imports/old-data.ts"),
    import("../imports/importers.ts"),
  ]);
  const data = new OldData(place.path, skipped);
  const importer = IMPORTERS.find(({ kind, looksLike }) =>
    place.kind === undefined ? looksLike(data) : kind === place.kind,
  );
  if (importer === undefined || !importer.looksLike(data)) throw nothingFound(place);
  const into = call.options.into === undefined ? undefined : resolve(call.directory, call.options.into);
  const histories = importer.read(data, { into, here: await idsAt(call, into ?? place.path) });
  const total = new Total(importer.kind);
  for (const history of histories) {
    const directory = into ?? history.directory;
    if (directory === undefined || !existsSync(directory)) {
      const what = history.threads.map(({ externalId }) => externalId).join(", ");
      const reason =
        directory === undefined ? "the data does not say where the files belong" : `${directory} is gone`;
      skipped.push({ what, reason: `${reason}; name the workspace with --into` });
      continue;
    }
    total.add(await take(call, history, { directory, kind: importer.kind }));
  }
  return total;
}

async function importBundle(call: ImportCall, { kind, path }: Place, skipped: Skipped[]): Promise<Report> {
  if (kind !== undefined && kind !== "bundle") throw nothingFound({ kind, path });
  const [{ TarFile }, { readBundle }] = await Promise.all([
    import("../archive/read-tar.ts"),
    import("../imports/bundle.ts"),
  ]);
  using archive = orUnreadable(path, () => new TarFile(path));
  const total = new Total("bundle");
  const read = (workspace: Workspace, here: ReadonlySet<string>) => {
    const bundle = orUnreadable(path, () => readBundle(archive, skipped, (id) => here.has(id)));
    total.alreadyThere += bundle.alreadyHere;
    total.checkpoints += bundle.alreadyHere;
    return takeInto(call, bundle, workspace);
  };
  const { into } = call.options;
  if (into === undefined) total.add(await withWorkspace(call, async (here) => read(here, await idsIn(here))));
  else {
    await using workspace = await openFor(call, resolve(call.directory, into), "bundle");
    total.add(await read(workspace, await idsIn(workspace)));
  }
  return total;
}

/** What was captured here is not imported again from its own bundle. */
async function idsIn(workspace: Workspace): Promise<Set<string>> {
  const listed = await workspace.list({ search: "" });
  return new Set(listed.map(({ id }) => String(id)));
}

/** Of a directory that is not protected, none. */
async function idsAt({ home }: ImportCall, directory: string): Promise<ReadonlySet<string>> {
  const { openWorkspace, protectedRoots } = await import("@belay/engine");
  if (!protectedRoots({ home }).some(({ path }) => path === directory)) return new Set();
  await using workspace = await openWorkspace(directory, { home });
  return await idsIn(workspace);
}

function orUnreadable<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function take(
  call: ImportCall,
  history: FoundHistory,
  { directory, kind }: { directory: string; kind: string },
): Promise<Partial<Report>> {
  if (call.options["dry-run"] === true)
    return { ...(await dryRunAt(call, history.threads, directory)), places: [{ id: null, root: directory }] };
  await using workspace = await openFor(call, directory, kind);
  return await takeInto(call, history, workspace);
}

/** The workspace of a directory; one that is not protected yet is from now on. */
async function openFor(call: ImportCall, directory: string, kind: string): Promise<Workspace> {
  const { openWorkspace, protectedRoots } = await import("@belay/engine");
  const isNew = !protectedRoots({ home: call.home }).some(({ path }) => path === realpathSync(directory));
  // the apps of this one are directories of their own wherever they are
  const workspace = await openWorkspace(directory, { home: call.home, nested: kind === "moldable" });
  if (isNew) call.output.note(`${visible(directory)} is protected from now on.`);
  warnAll(call, workspace.notices);
  return workspace;
}

async function takeInto(
  call: ImportCall,
  { threads, names = [] }: FoundHistory,
  workspace: Workspace,
): Promise<Partial<Report>> {
  const places = [{ id: workspace.id, root: workspace.root }];
  if (call.options["dry-run"] === true)
    return { ...dryRun(threads, await importedInto(workspace, threads)), places };
  const sum = await takeHistory(call.output, { threads, names }, workspace);
  return { ...sum, places };
}

/** The names that checkpoints of each origin have in a workspace. */
type Imported = ReadonlyMap<string, ReadonlySet<string>>;

async function importedInto(workspace: Workspace, threads: readonly ThreadImport[]): Promise<Imported> {
  const origins = [...new Set(threads.map(({ origin }) => origin))];
  const names = origins.map(
    async (origin) => [origin, new Set((await workspace.aliases(origin)).keys())] as const,
  );
  return new Map(await Promise.all(names));
}

/** A directory that is not protected has imported nothing. */
async function dryRunAt(
  { home }: ImportCall,
  threads: readonly ThreadImport[],
  directory: string,
): Promise<ReturnType<typeof dryRun>> {
  const { openWorkspace, protectedRoots } = await import("@belay/engine");
  const root = realpathSync(directory);
  if (!protectedRoots({ home }).some(({ path }) => path === root)) return dryRun(threads, new Map());
  await using workspace = await openWorkspace(root, { home });
  return dryRun(threads, await importedInto(workspace, threads));
}

/** Reads everything that is not there yet, and stores nothing. */
function dryRun(threads: readonly ThreadImport[], imported: Imported): Omit<Report, "kind" | "places"> {
  const sum = { threads: threads.length, checkpoints: 0, alreadyThere: 0, files: 0, bytes: 0 };
  for (const { origin, checkpoints } of threads)
    for (const { alias, files } of checkpoints) {
      sum.checkpoints += 1;
      if (imported.get(origin)?.has(alias) === true) {
        sum.alreadyThere += 1;
        continue;
      }
      for (const file of files) {
        if (file.kind === "gap") continue;
        sum.files += 1;
        sum.bytes += file.content.length;
      }
    }
  return sum;
}

/** The sum over all workspaces of an import. */
class Total implements Report {
  readonly kind: string;
  readonly places: { id: string | null; root: string }[] = [];
  threads = 0;
  checkpoints = 0;
  alreadyThere = 0;
  files = 0;
  bytes = 0;

  constructor(kind: string) {
    this.kind = kind;
  }

  add(part: Partial<Report>): void {
    this.places.push(...(part.places ?? []));
    this.threads += part.threads ?? 0;
    this.checkpoints += part.checkpoints ?? 0;
    this.alreadyThere += part.alreadyThere ?? 0;
    this.files += part.files ?? 0;
    this.bytes += part.bytes ?? 0;
  }
}

function nothingFound({ kind, path }: Place): ContractError {
  const what = kind === undefined ? "no history that Belay knows" : `no data of ${kind}`;
  return new ContractError("NOTHING_TO_IMPORT", `${visible(path)} has ${what}. Nothing was changed.`, {
    facts: { path },
  });
}

function unreadable(path: string, error: unknown): ContractError {
  const why = error instanceof Error ? error.message : String(error);
  return new ContractError(
    "NOTHING_TO_IMPORT",
    `${visible(path)} cannot be imported: ${why}. Nothing was changed.`,
    {
      facts: { path },
    },
  );
}

const SHOWN_SKIPPED = 20;

function tell(call: ImportCall, report: Report & { readonly skipped: readonly Skipped[] }): number {
  const { kind, places, threads, checkpoints, alreadyThere, files, bytes, skipped } = report;
  const { output } = call;
  const isDry = call.options["dry-run"] === true;
  if (call.json) {
    const [only] = places;
    const workspace = places.length === 1 ? (only?.id ?? null) : null;
    const facts = { kind, workspace, threads, checkpoints, alreadyThere, files, bytes, skipped };
    output.json({
      ...facts,
      workspaces: places.map(({ id, root }) => ({ id, path: root })),
      ...(isDry ? { dryRun: true } : {}),
    });
  } else {
    const fresh = checkpoints - alreadyThere;
    const into = places.map(({ root }) => visible(root)).join(", ");
    output.print(
      [
        `${isDry ? "Would import" : "Imported"} ${count(fresh, "checkpoint")} of ${count(threads, "thread")} from ${kind}${into === "" ? "" : ` into ${into}`}: ${count(files, "file")}, ${size(bytes)}.`,
        ...(alreadyThere === 0 ? [] : [`${count(alreadyThere, "checkpoint")} had been imported before.`]),
        ...(isDry || checkpoints === 0
          ? []
          : [
              `${output.style.dim("→")} \`belay threads\` shows them; their old ids work wherever a checkpoint is named.`,
            ]),
      ].join("\n"),
    );
    for (const { what, reason } of skipped.slice(0, SHOWN_SKIPPED))
      output.warn(`Skipped ${visible(what)}: ${visible(reason)}`);
    if (skipped.length > SHOWN_SKIPPED)
      output.warn(`… and ${skipped.length - SHOWN_SKIPPED} more; --json has all of them.`);
  }
  return skipped.length === 0 ? EXIT.done : EXIT.refused;
}
