/** Where a clone comes from: a remote that is known here or from a token, an address, or an invitation. */
import type { Call } from "../call/command.ts";
import { findRemoteHere } from "./remote-here.ts";

/** The space, and which of its lines and checkpoints. */
export interface CloneSource {
  /** An address, or an invitation. */
  readonly url: string;
  /** What the remote is called in the clone. */
  readonly name: string;
  readonly line?: string | undefined;
  readonly checkpoint?: string | undefined;
}

/** Ids of checkpoints have letters that those of lines do not. */
const CHECKPOINT = /^[k-z]{4,16}$/;

/** Reads `<remote>[/<line>][/<checkpoint>]`, an address or an invitation. */
export async function cloneSource(
  call: Pick<Call, "directory" | "environment" | "home">,
  text: string,
): Promise<CloneSource> {
  const { invitationIn } = await import("@belay/remote");
  if (text.includes("://")) return { url: text, name: "origin" };
  const invitation = invitationIn(text);
  if (invitation !== undefined) return { url: text, name: invitation.remote };
  const [remote = "", ...rest] = text.split("/");
  const checkpoint = CHECKPOINT.test(rest.at(-1) ?? "") ? rest.pop() : undefined;
  const line = rest.length === 0 ? undefined : rest.join("/");
  return { ...(await placeOf(call, remote)), line, checkpoint };
}

async function placeOf(
  { directory, environment, home }: Pick<Call, "directory" | "environment" | "home">,
  remote: string,
): Promise<{ url: string; name: string }> {
  const token = environment["BELAY_TOKEN"];
  if (token !== undefined && token !== "") {
    const { openToken } = await import("@belay/remote");
    const pass = openToken(token);
    if (pass.remote === remote) return { url: pass.url, name: remote };
  }
  const { findWorkspace } = await import("@belay/engine");
  await using workspace = await findWorkspace(directory, { home });
  return findRemoteHere(workspace, remote);
}
