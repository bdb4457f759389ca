/**
 * Copies one checkpoint out of a space: its files go to `x/` under a key of their own, so that a link to them opens
 * nothing else. The manifest is stored last; without it there is no share.
 */
import type { Checkpoint, Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import type { MemberKeys } from "../keys/key-pairs.ts";
import type { Space } from "../space/space.ts";
import { putSurely } from "../stores/put-surely.ts";
import { sealManifest, type SharedFile } from "./manifest.ts";
import { formatLink, sharePart, shareSecret, type ShareKey } from "./share-link.ts";
import { sealShareFacts, type SharedLink } from "./share-facts.ts";
import { ShareUpload } from "./share-upload.ts";

/** What to share. */
export interface LinkRequest {
  readonly checkpoint: Checkpoint;
  /** Only these paths; all of them without any. */
  readonly paths: readonly string[];
  readonly ttlMs: number;
}

/** Pre-signed requests live no longer. */
const LONGEST_MS = 7 * 86_400_000;
const PIECE_BYTES = 4 * 1024 * 1024;

interface Sharing {
  readonly space: Space;
  readonly keys: MemberKeys;
  readonly line: string;
  readonly member: string;
  readonly now: number;
  readonly random: (bytes: number) => Buffer;
}

/** Makes a link to a checkpoint. */
export async function makeShareLink(
  workspace: Workspace,
  request: LinkRequest,
  sharing: Sharing,
): Promise<{ readonly link: string; readonly share: SharedLink }> {
  const { checkpoint, ttlMs } = request;
  if (ttlMs > LONGEST_MS)
    throw new ContractError("USAGE", "A link lives for 7 days at most. Nothing was shared.");
  const { space, random, now } = sharing;
  const presign = space.store.presign?.bind(space.store);
  if (presign === undefined)
    throw new ContractError("REMOTE_UNFIT", "Links need a remote on S3. Nothing was shared.", {
      hint: "`belay share` without --link shares with the members of the space.",
    });
  const share: ShareKey = { id: random(16).toString("hex"), key: random(32) };
  const seconds = Math.floor(ttlMs / 1000);
  const upload = new ShareUpload(space, share, random);
  const { files, missing } = await copyFiles(workspace, request, upload);
  if (files.length === 0)
    throw new ContractError("USAGE", "There is no file in what would be shared. Nothing was shared.");
  const parcels: string[] = [];
  for (const n of upload.parts) parcels.push(await presign(space.names.share(share.id, n), seconds));
  const { id, name, note, description, createdAt, git } = checkpoint;
  const facts = { id, name, note, description, createdAt, member: sharing.member, missing };
  const where = git === null ? null : { branch: git.branch, commit: git.commit };
  const manifest = sealManifest(
    { checkpoint: { ...facts, git: where }, parcels, files },
    { key: sharePart(share.id, 0), secret: shareSecret(share), salt: random(32) },
  );
  const bytes = upload.bytes + manifest.length;
  const listed: SharedLink = {
    id: share.id,
    checkpoint: id,
    line: sharing.line,
    member: sharing.member,
    createdAt: now,
    expiresAt: now + ttlMs,
    bytes,
    files: files.length,
  };
  await putSurely(space.store, space.names.shareFacts(share.id), sealShareFacts(listed, sharing));
  await putSurely(space.store, space.names.share(share.id, 0), manifest);
  return { link: formatLink(await presign(space.names.share(share.id, 0), seconds), share), share: listed };
}

async function copyFiles(
  workspace: Workspace,
  { checkpoint, paths }: LinkRequest,
  upload: ShareUpload,
): Promise<{ files: SharedFile[]; missing: string[] }> {
  const files: SharedFile[] = [];
  const wanted = paths.length > 0 ? paths : undefined;
  // [R2020] what stays at home goes into no link either
  const withheld = new Set<string>();
  for (const { hash, isWithheld } of workspace.exchange.needed(checkpoint.id, () => false))
    if (isWithheld === true) withheld.add(hash);
  const left: string[] = [];
  for await (const file of workspace.files(checkpoint.id, wanted)) {
    const { path, kind, mode, size } = file;
    if (kind === "directory") continue;
    if (withheld.has(file.hash)) {
      left.push(Buffer.from(path, "latin1").toString());
      continue;
    }
    const pieces: string[] = [];
    for (const piece of piecesOf(file.content())) pieces.push(await upload.add(piece));
    files.push({ path: Buffer.from(path, "latin1").toString("base64"), kind, mode, size, pieces });
  }
  await upload.finish();
  const { excluded, gaps } = await workspace.show(checkpoint.id);
  const elsewhere = gaps.filter(({ reason }) => reason === "withheld");
  const rest = paths.length > 0 ? [] : [...excluded, ...elsewhere].map((one) => String(one.path));
  return { files, missing: [...left, ...rest] };
}

function* piecesOf(content: Iterable<Buffer>): Generator<Buffer> {
  for (const part of content)
    for (let at = 0; at < part.length; at += PIECE_BYTES) yield part.subarray(at, at + PIECE_BYTES);
}
