/** What looks like a secret in what the first push would send. Everything is encrypted; the user decides all the same. */
import { displayPath, type Workspace } from "@belay/engine";
import { redact } from "@belay/protocol/redact";

const NAMES =
  /(^|\/)(\.env(\.[\w.-]+)?|id_(rsa|ecdsa|ed25519)|[\w.-]*\.(pem|p12|pfx|key)|credentials(\.json)?|\.netrc|\.npmrc|\.pypirc)$/;
const LARGEST_FILE = 128 * 1024;

/** The places, at most so many; files by their name or content, prompts by their content. */
export async function findSecrets(
  workspace: Workspace,
  most: number,
): Promise<{ places: string[]; more: boolean }> {
  const [newest] = await workspace.list({ limit: 1 });
  if (newest === undefined) return { places: [], more: false };
  const { places, more } = await findSecretsIn(workspace, { ref: newest.id, most });
  if (more) return { places, more };
  for (const { description, seq } of await workspace.list())
    if (redact(description) !== description) places.push(`the prompt of checkpoint ${seq}`);
  return { places: places.slice(0, most), more: places.length > most };
}

/** The files of a checkpoint, or those at some paths, that look like secrets by their name or content. */
export async function findSecretsIn(
  workspace: Workspace,
  {
    ref,
    paths,
    most,
  }: { readonly ref: string; readonly paths?: readonly string[] | undefined; readonly most: number },
): Promise<{ places: string[]; more: boolean }> {
  const places: string[] = [];
  for await (const file of workspace.files(ref, paths)) {
    if (file.kind !== "file") continue;
    const path = displayPath(file.path);
    if (NAMES.test(path) || (file.size <= LARGEST_FILE && holdsSecret(Buffer.concat([...file.content()]))))
      places.push(path);
    if (places.length > most) return { places: places.slice(0, most), more: true };
  }
  return { places, more: false };
}

function holdsSecret(content: Buffer): boolean {
  if (content.includes(0)) return false;
  const text = content.toString("utf8");
  return redact(text) !== text;
}
