/** What to look at in files that another person made, before they are restored here. */
import { displayPath, type BytePath, type Workspace } from "@belay/engine";
import { posix } from "node:path";

interface LinkOrFile {
  readonly path: BytePath;
  readonly kind: string;
  readonly content?: Buffer;
}

/** Symbolic links whose target is outside the directory they are restored into. */
export function leadingOutside(files: Iterable<LinkOrFile>): string[] {
  const found: string[] = [];
  for (const { path, kind, content } of files) {
    if (kind !== "symlink" || content === undefined) continue;
    const target = content.toString("utf8");
    const reached = posix.normalize(posix.join(posix.dirname(displayPath(path)), target));
    if (target.startsWith("/") || reached === ".." || reached.startsWith("../"))
      found.push(displayPath(path));
  }
  return found;
}

/** Symbolic links of a checkpoint whose target is outside the directory. */
export async function linksLeadingOutside(workspace: Workspace, checkpoint: string): Promise<string[]> {
  const links: LinkOrFile[] = [];
  for await (const file of workspace.files(checkpoint))
    if (file.kind === "symlink")
      links.push({ path: file.path, kind: file.kind, content: Buffer.concat([...file.content()]) });
  return leadingOutside(links);
}
