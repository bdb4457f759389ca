/**
 * Safety steps that `--self-test` switches off, one at a time, to show that a suite notices. Each is a text
 * of the engine's source and its replacement while a process loads it; the product itself is not touched.
 */
import { SYNC_BUGS } from "./planted-sync-bugs.ts";
import { UNDO_BUGS } from "./planted-undo-bugs.ts";

export interface PlantedBug {
  readonly name: string;
  readonly suite: string;
  readonly edits: readonly Planting[];
  /** Where faults strike: the calls, as a pattern for "call path". Trying all of them would take too long. */
  readonly strikes?: { readonly scene: string; readonly calls: string };
  /** The suite has to notice within this many tries. */
  readonly tries: number;
}

export interface Planting {
  /** Below `packages/engine/src`, or that of the package, without its extension. */
  readonly file: string;
  readonly package?: "remote";
  readonly text: string;
  readonly instead: string;
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: "what is left of a half-made fork stays",
    suite: "crash",
    tries: 60,
    // before that call its row names the directory that is being filled
    strikes: { scene: "fork", calls: "^rename .*/made$" },
    edits: [
      {
        file: "fork/make-fork",
        text: "drain(removeTree(makingPath(parentOf(row.root), forking, workingCopy)));",
        instead: "void makingPath;",
      },
    ],
  },
  {
    name: "half a fork in the trash counts as a whole one",
    suite: "crash",
    tries: 60,
    strikes: { scene: "unfork", calls: "trash/" },
    edits: [
      {
        file: "fork/remove-fork",
        text: "db.transaction(() => setForkGone(db, row.workingCopy));\n  clearAway(context, row);",
        instead: "clearAway(context, row);\n  db.transaction(() => setForkGone(db, row.workingCopy));",
      },
    ],
  },
  {
    name: "a spare fork whose files are being taken over still counts as one",
    suite: "crash",
    tries: 120,
    strikes: { scene: "takeover", calls: "belay-forks" },
    edits: [
      {
        file: "fork/spare-fork",
        text: "if (isStillThere) setForkGone(db, row.workingCopy);",
        instead: "void setForkGone;",
      },
    ],
  },
  {
    name: "a fork loses its dependencies before it is spare",
    suite: "crash",
    tries: 120,
    strikes: { scene: "takeover", calls: "belay-forks" },
    edits: [
      {
        file: "fork/spare-fork",
        text: "db.transaction(() => setForkSpare(db, row.workingCopy, row.bytes));\n  try {",
        instead: "try {",
      },
      {
        file: "fork/spare-fork",
        text: "// what cannot be removed yet goes with the rest\n  }\n  return true;",
        instead: "}\n  db.transaction(() => setForkSpare(db, row.workingCopy, row.bytes));\n  return true;",
      },
    ],
  },
  {
    name: "a fork is removed without a capture",
    suite: "crash",
    tries: 60,
    strikes: { scene: "unfork", calls: "trash/" },
    edits: [
      {
        file: "fork/remove-fork",
        text: 'const { checkpoint } = capture.record({\n      request: { kind: "safety" },',
        instead: "const checkpoint = headCheckpoint(store.db)!; capture.store(); ({",
      },
      {
        file: "fork/remove-fork",
        text: "await forking.inCopy(row, async (inFork) => captureAgain(inFork, row));",
        instead: "void captureAgain;",
      },
    ],
  },
  {
    name: "what git ignores is left out",
    suite: "model",
    tries: 200,
    edits: [
      {
        file: "rules/ignore-rules",
        text: 'return !isDirectory && this.#isAlwaysIn(name) ? "captured" : "ignored";',
        instead: 'return !isDirectory && this.#isAlwaysIn(name) ? "captured" : ignored;',
      },
    ],
  },
  {
    name: "an import deletes what it did not know",
    suite: "model",
    tries: 200,
    edits: [
      {
        file: "rules/recorded-rules",
        text: "path === ROOT_PATH || paths.has(path) || (isDirectory && directories.has(path)),",
        instead: "path === ROOT_PATH || path !== ROOT_PATH,",
      },
    ],
  },
  {
    name: "an imported checkpoint is the newest one",
    suite: "model",
    tries: 200,
    edits: [
      {
        file: "history/line",
        text: 'return hasArrivals(db) ? notFromElsewhere({ seq, branch }) : "1";',
        instead: 'return "1";',
      },
    ],
  },
  {
    name: "the stat cache does not look at the change time",
    suite: "detection",
    tries: 20_000,
    edits: [
      { file: "scan/stat-columns", text: "stat.ctimeNs === columns.ctimeNs[index] &&", instead: "" },
      { file: "scan/previous-entries", text: "a.ctimeNs[i] === b.ctimeNs[j] &&", instead: "" },
      {
        file: "scan/scan-directory",
        text: "return mtimeNs >= racySinceNs || ctimeNs >= racySinceNs;",
        instead: "return mtimeNs >= racySinceNs;",
      },
    ],
  },
  {
    name: "native threads are believed before they have looked",
    suite: "detection",
    tries: 100_000,
    edits: [
      {
        file: "scan/native-look",
        text: "isAsBefore: (directory) => native.isAsBefore(look, directory),",
        instead: "isAsBefore: () => true,",
      },
    ],
  },
  {
    name: "what is hot is taken for at rest, and times are whole seconds",
    suite: "detection",
    tries: 20_000,
    edits: [
      {
        file: "scan/scan-directory",
        text: "return mtimeNs >= racySinceNs || ctimeNs >= racySinceNs;",
        instead: "return false;",
      },
      // as on file systems whose clock is coarse
      {
        file: "scan/stat-columns",
        text: "stat.ctimeNs === columns.ctimeNs[index] &&",
        instead: "stat.ctimeNs / 1000000000n === columns.ctimeNs[index]! / 1000000000n &&",
      },
      {
        file: "scan/previous-entries",
        text: "a.ctimeNs[i] === b.ctimeNs[j] &&",
        instead: "a.ctimeNs[i]! / 1000000000n === b.ctimeNs[j]! / 1000000000n &&",
      },
    ],
  },
  {
    name: "gc does not spare what an undo needs",
    suite: "model",
    tries: 400,
    edits: [
      {
        file: "upkeep/gc",
        text: "const live = new Reachable(this.#store).addSnapshots().addChanges().addJournal().addConflicts();",
        instead: "const live = new Reachable(this.#store).addSnapshots().addJournal();",
      },
      {
        file: "upkeep/gc",
        text: "live.addSnapshots().addChanges().addJournal().addConflicts();\n        const limit",
        instead: "live.addSnapshots().addJournal();\n        const limit",
      },
    ],
  },
  {
    name: "the safety checkpoint is not of the present",
    suite: "model",
    tries: 200,
    edits: [
      {
        file: "capture/record-capture",
        text: "facts: { ...present, doubts:",
        instead:
          'facts: { ...present, ...(request.kind === "safety" && { snapshot: newest!.snapshot }), doubts:',
      },
    ],
  },
  {
    name: "the restore keeps no journal",
    suite: "crash",
    strikes: { scene: "restore", calls: "^(link|rename|unlink)" },
    tries: 600,
    edits: [{ file: "restore/carry-out", text: "writeJournal(db, entry);", instead: "void entry;" }],
  },
  {
    name: "a merge records a part of what a source brought",
    suite: "crash",
    strikes: { scene: "merge", calls: "^(link|rename|unlink)" },
    tries: 200,
    edits: [
      {
        file: "restore/record-merge",
        text: "edits: edits.map(decodeEdit).filter(({ path }) => !missing.has(path)),",
        instead: "edits: edits.map(decodeEdit).filter(({ path }) => !missing.has(path)).slice(0, -1),",
      },
    ],
  },
  {
    name: "the stage is thrown away before it is saved",
    suite: "crash",
    strikes: { scene: "restore", calls: "^(link|rename|unlink)" },
    tries: 600,
    edits: [
      {
        file: "restore/found-edits",
        text: "using anchor = new Anchor(root);",
        instead:
          "for (const { name } of stage?.nodes() ?? []) removeName(stage!.at(name)); using anchor = new Anchor(root);",
      },
    ],
  },
  {
    name: "a reset ends its session in a transaction of its own",
    suite: "crash",
    strikes: { scene: "reset", calls: "^(pwrite|fsync|fdatasync)" },
    tries: 600,
    edits: [
      { file: "restore/record-result", text: "function endSession(", instead: "export function endSession(" },
      {
        file: "restore/record-result",
        text: 'if (finish.kind === "reset") endSession(context, entry, recorded);',
        instead: "",
      },
      {
        file: "restore/carry-out",
        text: 'import { abandonJournal, recordResult, withFilesInPlace } from "./record-result.ts";',
        instead:
          'import { abandonJournal, endSession, recordResult, withFilesInPlace } from "./record-result.ts";',
      },
      {
        file: "restore/carry-out",
        text: "const ended = endStage(context, entry, stage, {",
        instead:
          'if (entry.finish.kind === "reset" && recorded !== undefined) endSession(context, entry, recorded); const ended = endStage(context, entry, stage, {',
      },
    ],
  },
  {
    name: "what fails in the middle is not taken back",
    suite: "errors",
    strikes: { scene: "restore", calls: "^(link|rename|unlink)" },
    tries: 600,
    edits: [{ file: "restore/apply", text: "takeBack(applier, error);", instead: "" }],
  },
  {
    name: "an error while taking back is not told",
    suite: "errors",
    strikes: { scene: "restore", calls: "^(link|rename|unlink)" },
    tries: 600,
    edits: [
      {
        file: "restore/carry-out",
        text: "if (error instanceof HalfDone) throw leftHalfDone(context, error);",
        instead: "",
      },
    ],
  },
  {
    name: "a list of roots that lacks one stays",
    suite: "errors",
    strikes: { scene: "open", calls: "roots" },
    tries: 300,
    edits: [
      { file: "store/protected-roots", text: "removeRoots(home, error);", instead: "void error;" },
      // as when it is killed before it comes to that
      { file: "store/registry", text: "this.tidyRoots({ missingOnly: false });", instead: "" },
    ],
  },
  {
    name: "content is not checked against its hash",
    suite: "corruption",
    tries: 300,
    edits: [{ file: "store/object-store", text: "hashBytes(bytes) !== name", instead: "false" }],
  },
  {
    name: "the records of checkpoints are not sealed",
    suite: "corruption",
    tries: 3_000,
    edits: [
      {
        file: "history/checkpoint-seal",
        text: "sealOf(checkpoint, delta, version).equals(seal)",
        instead: "true",
      },
    ],
  },
  {
    name: "commits are not synced",
    suite: "power",
    tries: 20,
    edits: [
      {
        file: "store/database",
        text: 'expectPragma(db, "synchronous", 2, "FULL");',
        instead: 'db.exec("PRAGMA synchronous = OFF");',
      },
      {
        file: "store/database",
        text: 'this.exec("PRAGMA synchronous = FULL");',
        instead: 'this.exec("PRAGMA synchronous = OFF");',
      },
    ],
  },
  {
    name: "paths are not anchored",
    suite: "paths",
    tries: 8_000,
    edits: [
      {
        file: "fs/anchor",
        text: "if (!hasDescriptorPaths) return this.#checked(path);",
        instead: "return below(this.#root, path);",
      },
    ],
  },
  {
    name: "names in the store are not checked",
    suite: "paths",
    tries: 600,
    edits: [
      { file: "model/tree", text: "if (!isSafeName(entryName)) throw", instead: "if (false) throw" },
      {
        file: "model/tree",
        text: 'if (path.split("/").every(isSafeName)) return path;',
        instead: "return path;",
      },
    ],
  },
  {
    // one of the two alone is not noticed: the other saves what is at stake
    name: "what is exchanged is neither looked at nor saved",
    suite: "soak",
    tries: 1_500,
    edits: [
      {
        file: "restore/apply",
        text: "if (this.#proves(edit)) return true;",
        instead: "return true;",
      },
      {
        file: "restore/end-stage",
        text: "const displaced = this.#save(this.#strays);",
        instead: "const displaced = this.#save([]);",
      },
    ],
  },
  {
    name: "a step that can no longer be undone is skipped",
    suite: "model",
    tries: 400,
    edits: [
      {
        file: "steps/select-steps",
        text: "const at = steps.findIndex(({ pruned }) => pruned);",
        instead: "const at = -1;",
      },
    ],
  },
  {
    name: "going back has no reserve",
    suite: "full",
    tries: 500,
    edits: [
      {
        file: "restore/restore-lease",
        text: "return withReserve(context.store, () => withLease(context, work));",
        instead: "void withReserve; return withLease(context, work);",
      },
    ],
  },
  {
    name: "a forget that did not come to its end says that nothing was done",
    suite: "full",
    strikes: { scene: "forget", calls: "" },
    tries: 200,
    edits: [
      {
        file: "upkeep/purge",
        text: 'if (isEngineError(error, "DISK_FULL")) throw unfinished(store, "the disk is full", error);',
        instead: "",
      },
    ],
  },
  ...UNDO_BUGS,
  ...SYNC_BUGS,
  {
    name: "the end of a stage saves nothing",
    suite: "writers",
    tries: 20_000,
    edits: [
      {
        file: "restore/end-stage",
        text: "const displaced = this.#save(this.#strays);",
        instead: "const displaced = this.#save([]);",
      },
    ],
  },
  {
    name: "what is salvaged is in no checkpoint",
    suite: "writers",
    tries: 20_000,
    edits: [
      {
        file: "restore/save-displaced",
        text: "const edits = editsFor(store.objects, base, layer);",
        instead: "const edits = [];",
      },
    ],
  },
  {
    name: "what was proved once is not read again",
    suite: "writers",
    tries: 40_000,
    edits: [
      {
        file: "restore/end-stage",
        text: "const proof = this.#stage.proved.get(name);",
        instead: "const proof = this.#stage.proved.get(name); if (proof) return true;",
      },
    ],
  },
  {
    name: "the stage is reached by its name",
    suite: "paths",
    tries: 2_000,
    edits: [
      {
        file: "fs/held-directory",
        text: "if (hasDescriptorPaths) return `/proc/self/fd/${this.#descriptor}` as AbsolutePath;",
        instead: "return this.#path;",
      },
    ],
  },
  {
    name: "a zombie is taken for alive",
    suite: "zombie",
    tries: 20,
    edits: [{ file: "fs/system", text: "if (isZombie(owner.pid)) return false;", instead: "" }],
  },
  {
    name: "a full disk is not recognised",
    suite: "full",
    tries: 500,
    edits: [{ file: "store/sqlite-error", text: "case SQLITE.FULL:", instead: "case -1:" }],
  },
  {
    name: "settings are read once",
    suite: "settings",
    tries: 40,
    edits: [{ file: "settings/once-per-task", text: "held = undefined;", instead: "" }],
  },
];
