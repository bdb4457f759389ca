/** Everything below a directory, with kind, permissions and content: equal trees give equal lists. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

export function describeTree(directory: string): string[] {
  return describeNode(Buffer.from(directory), "");
}

function describeNode(path: Buffer, shown: string): string[] {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return [`${shown} -> ${readlinkSync(path)}`];
  const mode = (stat.mode & 0o777).toString(8);
  if (!stat.isDirectory()) return [`${shown} ${mode} ${readFileSync(path, "base64")}`];
  const below = readdirSync(path, { encoding: "buffer" }).flatMap((name) =>
    describeNode(Buffer.concat([path, Buffer.from("/"), name]), `${shown}/${name.toString("latin1")}`),
  );
  return [`${shown}/ ${mode}`, ...below.sort()];
}
