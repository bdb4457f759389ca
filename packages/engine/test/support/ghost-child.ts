/** Makes a ghost in a process of its own, with the git of another directory: that one may kill the process. */
import { createSystem, findWorkspace } from "../../src/index.ts";

const [root = "", home = "", commandPath = ""] = process.argv.slice(2);
await using workspace = await findWorkspace(root, {
  home,
  system: { ...createSystem(), commandPath },
});
const made = await workspace.ghost();
console.log("missing" in made ? made.missing : made.commit);
