/** Rows of versions. Those whose checkpoint was dropped are not seen, and their children follow the version before them. */
import { hash } from "node:crypto";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { CheckpointId } from "../model/ids.ts";
import type { Version, VersionRequest } from "../model/version.ts";
import type { Database, Row } from "../store/database.ts";
import { branchHere } from "./line.ts";

const SELECT = `SELECT v.*, c.id AS checkpoint_id, b.name AS branch_name
  FROM version v JOIN checkpoint c ON c.seq = v.checkpoint JOIN branch b ON b.id = v.branch WHERE c.pruned_at IS NULL`;

/** Makes a version of a checkpoint on the branch here, after the newest one there. Call inside a transaction. */
export function insertVersion(
  db: Database,
  checkpoint: Checkpoint,
  { name, description, metadata = {}, now }: Omit<VersionRequest, "checkpoint"> & { readonly now: number },
): Version {
  const branch = branchHere(db);
  const parent = headVersion(db, branch)?.id ?? null;
  const count = Number(db.get("SELECT count(*) AS n FROM version")!["n"]);
  const id = `v_${hash("sha256", `${checkpoint.snapshot} ${now} ${count}`, "hex").slice(0, 12)}`;
  db.run(
    "INSERT INTO version (id, checkpoint, branch, parent, name, description, metadata, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    id,
    checkpoint.seq,
    branch,
    parent,
    name ?? null,
    description ?? checkpoint.description,
    JSON.stringify(metadata),
    now,
  );
  return listVersions(db).find((version) => version.id === id)!;
}

/** All versions, oldest first. */
export function listVersions(db: Database): Version[] {
  const rows = db.all(`${SELECT} ORDER BY v.seq`);
  const seen = new Set(rows.map((row) => String(row["id"])));
  const parents = new Map(
    db
      .all("SELECT id, parent FROM version")
      .map((row) => [String(row["id"]), row["parent"] as string | null]),
  );
  const parentOf = (id: string): string | null => {
    let parent = parents.get(id) ?? null;
    while (parent !== null && !seen.has(parent)) parent = parents.get(parent) ?? null;
    return parent;
  };
  return rows.map((row) => toVersion(row, parentOf(String(row["id"]))));
}

/** The newest version on a branch, or else the one that the branch began with. */
export function headVersion(db: Database, branch: number): Version | undefined {
  const own = db.get(`${SELECT} AND v.branch = ? ORDER BY v.seq DESC LIMIT 1`, branch);
  const row =
    own ??
    db.get(
      `${SELECT} AND v.checkpoint = (SELECT base FROM branch WHERE id = ?) ORDER BY v.seq DESC LIMIT 1`,
      branch,
    );
  return row && toVersion(row, row["parent"] as string | null);
}

/** The checkpoints that are versions: no policy drops them. */
export function versionSeqs(db: Database): Set<number> {
  return new Set(db.all("SELECT checkpoint FROM version").map((row) => Number(row["checkpoint"])));
}

/** Takes versions away; their checkpoints stay, and their children follow the version before them. */
export function deleteVersions(db: Database, ids: readonly string[]): void {
  for (const id of ids) {
    db.run("UPDATE version SET parent = (SELECT parent FROM version WHERE id = ?1) WHERE parent = ?1", id);
    db.run("DELETE FROM version WHERE id = ?", id);
  }
}

function toVersion(row: Row, parent: string | null): Version {
  return {
    id: String(row["id"]),
    checkpoint: String(row["checkpoint_id"]) as CheckpointId,
    branch: String(row["branch_name"]),
    parent,
    name: row["name"] as string | null,
    description: String(row["description"]),
    metadata: JSON.parse(String(row["metadata"])) as Version["metadata"],
    createdAt: Number(row["created_at"]),
  };
}
