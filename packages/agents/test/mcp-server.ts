/** A real `belay mcp` process over files of a test: `node mcp-server.ts <directory>`. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ContractError } from "@belay/protocol/errors";
import { serveMcp, type McpHost } from "../src/mcp/serve-mcp.ts";

const root = process.argv[2]!;
const checkpoints: { id: string; name: string | null; files: Map<string, string> }[] = [];
const plans = new Map<string, Map<string, string>>();
let made = 0;

const read = () => new Map(readdirSync(root).map((name) => [name, readFileSync(join(root, name), "utf8")]));
const facts = (index: number) => ({
  id: checkpoints[index]!.id,
  seq: index,
  kind: "manual",
  name: checkpoints[index]!.name,
  description: checkpoints[index]!.name ?? "",
  createdAt: "2026-11-16T00:00:00.000Z",
  changes: { added: 0, modified: 0, deleted: 0 },
});
const find = (ref: string) => {
  const index = checkpoints.findIndex(({ id, name }) => id === ref || name === ref);
  if (index === -1) throw new Error(`There is no checkpoint ${ref}.`);
  return index;
};
const changed = (from: Map<string, string>, to: Map<string, string>) =>
  [...new Set([...from.keys(), ...to.keys()])]
    .filter((path) => from.get(path) !== to.get(path))
    .map((path) => ({
      path,
      type: "modified" as const,
      linesAdded: 1,
      linesDeleted: 1,
      diff: `-${from.get(path)}\n+${to.get(path)}`,
    }));

const host: McpHost = {
  async create({ name }) {
    checkpoints.push({ id: `cp${checkpoints.length}`, name: name ?? null, files: read() });
    return facts(checkpoints.length - 1);
  },
  async list({ limit, search }) {
    const all = checkpoints.map((_checkpoint, index) => facts(index)).reverse();
    return all.filter(({ name }) => search === undefined || name?.includes(search) === true).slice(0, limit);
  },
  async find({ query, k }) {
    return [...read()]
      .filter(([, content]) => content.includes(query))
      .map(([path, text]) => ({ path, startLine: 1, endLine: 1, text, score: 1 }))
      .slice(0, k);
  },
  async history({ text, limit, paths }) {
    const { id } = checkpoints[0]!;
    const at = "2026-11-16T00:00:00.000Z";
    const nobody = { ref: null, agent: null, thread: null, tool: null, messageId: null, prompt: null };
    return [...read()]
      .filter(([path, content]) => content.includes(text) && paths?.includes(path) !== false)
      .slice(0, limit)
      .map(([path, line]) => ({
        path,
        text: line,
        first: id,
        firstAt: at,
        last: null,
        lastAt: null,
        addedBy: { ...nobody, title: "Changed by hand" },
        removedBy: null,
      }));
  },
  async show(ref) {
    return { checkpoint: facts(find(ref)), files: [] };
  },
  async diff({ from, to }) {
    const older = from === undefined ? checkpoints.at(-1)! : checkpoints[find(from)]!;
    return { files: changed(older.files, to === undefined ? read() : checkpoints[find(to)]!.files) };
  },
  async branches() {
    const none = { parent: null, workingCopy: null, description: null, run: null };
    return [{ name: "main", current: true, ahead: 0, behind: 0, files: 1, state: "open", ...none }];
  },
  async mergePreview(branches) {
    const sources = branches.map((branch) => ({ branch, outcome: "unchanged" as const }));
    return { into: "main", sources, merged: [], conflicts: [], notMerged: [], changes: [] };
  },
  async conflicts() {
    return [];
  },
  async conflict(ref) {
    throw new Error(`There is no conflict ${ref}.`);
  },
  async preview(ref) {
    const { files, id } = checkpoints[find(ref)]!;
    const planId = `plan-${(made += 1)}`;
    plans.set(planId, files);
    const operations = changed(read(), files).map(({ path }) => ({
      type: files.has(path) ? ("restore" as const) : ("delete" as const),
      path,
    }));
    const nothing = { kept: [], conflicts: [], waysOut: [], warnings: [] };
    return { planId, description: `Restore to ${id}`, operations, ...nothing };
  },
  async restore(planId) {
    const files = plans.get(planId);
    if (files === undefined) throw new ContractError("PLAN_STALE", "There is no such plan.");
    plans.delete(planId);
    for (const path of read().keys()) if (!files.has(path)) rmSync(join(root, path));
    for (const [path, text] of files) writeFileSync(join(root, path), text);
    return {
      outcome: "applied",
      safetyCheckpoint: "cp9",
      created: 0,
      modified: 1,
      deleted: 0,
      conflicts: [],
      waysOut: [],
      displaced: [],
      warnings: [],
    };
  },
  decline: (planId) => void plans.delete(planId),
};

serveMcp(host, { version: "0.1.0" });
