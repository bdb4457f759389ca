/** Where SQL may be: the tables are known to the folders that keep the store, its history and its upkeep, and to the exchange. */
import { enginePath, isCode, type Check } from "./repository.ts";
import { lineAt, walk } from "./syntax.ts";

const KNOWS_TABLES = /^(?:store|history|upkeep|exchange|testing)\//;
const STATEMENT =
  /^\s*(?:SELECT\s.+\sFROM|INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE|PRAGMA)\b/s;

/** No statement outside these folders. */
export const checkSql: Check = (files) =>
  files.flatMap((file) => {
    const path = enginePath(file);
    if (path === undefined || !isCode(file) || KNOWS_TABLES.test(path)) return [];
    const complaints: string[] = [];
    walk(file, (node) => {
      const text =
        node.type === "Literal" && typeof node["value"] === "string"
          ? node["value"]
          : node.type === "TemplateElement"
            ? file.text.slice(node.start, node.end)
            : "";
      if (STATEMENT.test(text))
        complaints.push(`${file.path}:${lineAt(file, node.start)}: SQL is not for this folder`);
    });
    return complaints;
  });
