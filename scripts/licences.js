/** The licences of libraries that become part of what is shipped. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The licences of the libraries that these modules belong to. */
export function licencesOf(modules) {
  const folders = new Set(modules.map((id) => /^.*[/]node_modules[/](?:@[^/]+[/])?[^/]+/.exec(id)?.[0]));
  return [...folders]
    .filter((folder) => folder !== undefined)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      const text = file === undefined ? "" : `\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
      return `${name} ${version} (${license})\n${text}`;
    })
    .join(`\n${"-".repeat(80)}\n\n`);
}
