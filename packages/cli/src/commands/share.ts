import type { Checkpoint, Workspace } from "@belay/engine";
import type { SharedLink, Shares, SharedWithMembers } from "@belay/remote";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { count, size } from "@belay/tui/text";
import { defineCommand, type Call } from "../call/command.ts";
import { parseDuration } from "../call/duration.ts";
import { visible } from "../output/visible.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

const OPTIONS = {
  link: { type: "boolean", about: "a link that opens it without membership or access to the server" },
  expires: {
    type: "string",
    value: "time",
    about: "with --link: how long it works; defaults to 7d, and at most",
  },
  paths: {
    type: "string",
    multiple: true,
    value: "path",
    about: "with --link: only this path; may be given several times",
  },
  "include-secrets": { type: "boolean", about: "with --link: share what looks like secrets too" },
  list: { type: "boolean", about: "show what is shared" },
  revoke: { type: "string", value: "id", about: "end a share: the id of a link or of a checkpoint" },
  remote: { type: "string", value: "name", about: "which remote, where there are several" },
} as const;

type ShareCall = Call<typeof OPTIONS>;

/** As many places are named. */
const NAMED_PLACES = 20;

export default defineCommand({
  usage:
    "share <checkpoint> [--link [--expires time] [--paths path]… [--include-secrets]] | share --list | share --revoke <id>",
  about: [
    "Keeps a checkpoint for the members of a space, and prints how they name it. With --link its files are copied under a",
    "key of their own, and the link that opens them is printed, once: `belay clone <link> <directory>` reads it anywhere,",
    "without membership. Who has the link has the files. --revoke ends it; what was downloaded stays downloaded.",
  ].join("\n"),
  options: OPTIONS,
  examples: ["belay share @", "belay share T3 --link --expires 2d"],
  operands: { min: 0, max: 1 },
  exits: {
    3: "refused: it seems to contain secrets, or this machine may only read",
    8: "the remote cannot be used now; nothing is shared",
  },
  run: (call) => withWorkspace(call, (workspace) => runShare(call, workspace)),
});

async function runShare(call: ShareCall, workspace: Workspace): Promise<number> {
  const { link, list, revoke, remote } = call.options;
  const [ref] = call.operands;
  const ways = [ref !== undefined, list === true, revoke !== undefined].filter(Boolean).length;
  if (ways !== 1)
    throw usageError("Name a checkpoint, or use --list or --revoke.", "For example: belay share @");
  const { openShares } = await import("@belay/remote");
  const { createRemoteHost } = await import("../wiring/remote-host.ts");
  const shares = openShares(workspace, remote, await createRemoteHost(call));
  if (revoke !== undefined) return endShare(call, shares, revoke);
  if (list === true) return showShares(call, shares);
  const checkpoint = await workspace.resolve(ref!);
  if (link === true) return shareLink(call, shares, { workspace, ref: checkpoint.id });
  const shared = await shares.withMembers(checkpoint);
  if (call.json) call.output.json({ share: pinJson(shared) });
  else call.output.print(`Members of the space name it ${visible(shared.reference)}.`);
  return EXIT.done;
}

async function shareLink(
  call: ShareCall,
  shares: Shares,
  { workspace, ref }: { readonly workspace: Workspace; readonly ref: string },
): Promise<number> {
  const { expires = "7d", paths = [] } = call.options;
  const checkpoint = await workspace.resolve(ref);
  await expectNoSecrets(call, workspace, checkpoint);
  const { link, share } = await shares.byLink({ checkpoint, paths, ttlMs: parseDuration(expires) });
  const facts = { ...linkJson(share), reference: null, link };
  // [T17] the one place where the link is shown: everywhere else it is taken out as a secret
  await call.output.raw(call.json ? `${JSON.stringify({ share: facts }, undefined, 2)}\n` : `${link}\n`);
  call.output.note(
    `${count(share.files, "file")}, ${size(share.bytes)}, until ${new Date(share.expiresAt).toISOString()}. Who has the link has the files.\n→ \`belay share --revoke ${share.id}\` ends it.`,
  );
  return EXIT.done;
}

async function expectNoSecrets(call: ShareCall, workspace: Workspace, checkpoint: Checkpoint): Promise<void> {
  if (call.options["include-secrets"] === true) return;
  const { findSecretsIn } = await import("../command-parts/found-secrets.ts");
  const { places, more } = await findSecretsIn(workspace, {
    checkpoint,
    paths: call.options.paths,
    most: NAMED_PLACES,
  });
  if (places.length === 0) return;
  throw new ContractError("SECRETS_FOUND", "This would share what looks like secrets. Nothing was shared.", {
    hint: "Share other --paths, or share them too with --include-secrets.",
    facts: { places },
    list: [...places.map(visible), ...(more ? ["and more"] : [])],
  });
}

async function endShare(call: ShareCall, shares: Shares, id: string): Promise<number> {
  if (!(await shares.revoke(id)))
    throw new ContractError("SHARE_NOT_FOUND", `There is no share "${id}". Nothing was changed.`, {
      facts: { id },
    });
  if (call.json) call.output.json({ revoked: id });
  else call.output.print(`${visible(id)} is not shared any more. What was downloaded stays downloaded.`);
  return EXIT.done;
}

async function showShares(call: ShareCall, shares: Shares): Promise<number> {
  const { links, kept } = await shares.list();
  if (call.json) call.output.json({ shares: [...links.map(linkJson), ...kept.map(pinJson)] });
  else if (links.length + kept.length === 0) call.output.print("Nothing is shared.");
  else
    call.output.print(
      [
        ...links.map(
          ({ id, checkpoint, member, expiresAt, bytes }) =>
            `${id}  link to ${checkpoint} by ${visible(member)}, ${size(bytes)}, until ${new Date(expiresAt).toISOString()}`,
        ),
        ...kept.map(({ checkpoint, reference }) => `${checkpoint.id}  for members: ${visible(reference)}`),
      ].join("\n"),
    );
  return EXIT.done;
}

function linkJson({ id, checkpoint, member, createdAt, expiresAt, bytes, files }: SharedLink) {
  const times = {
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
  return { id, checkpoint, member, ...times, bytes, files };
}

function pinJson({ checkpoint, reference }: SharedWithMembers) {
  return { id: checkpoint.id, checkpoint: checkpoint.id, reference, link: null, expiresAt: null, bytes: 0 };
}
