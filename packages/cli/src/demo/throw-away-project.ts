/** A small project, a careless agent and a home of their own. All of it is deleted afterwards, unless it is kept. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The project of the tour; disposing deletes it. */
export interface ThrowAwayProject extends Disposable {
  readonly directory: string;
  readonly home: string;
}

const FILES: Readonly<Record<string, string>> = {
  "README.md": "# Greeter\n\nSays hello.\n",
  "src/greet.js": 'export function greet(name) {\n  return "Hello, " + name;\n}\n',
  "src/main.js": 'import { greet } from "./greet.js";\n\nconsole.log(greet("world"));\n',
  "docs/guide.md": "# Guide\n\n1. Run it.\n2. Read what it says.\n",
  "notes.txt": "ideas that exist nowhere else\n",
};

/** A shell script, so that the changes come from where no edit tool sees them. */
const AGENT = `#!/bin/sh
case "$1" in
  "add a farewell")
    printf 'export function farewell(name) {\\n  return "Goodbye, " + name;\\n}\\n' > src/farewell.js
    printf '\\nimport { farewell } from "./farewell.js";\\nconsole.log(farewell("world"));\\n' >> src/main.js
    echo "agent: added src/farewell.js and used it in src/main.js" ;;
  "tidy up")
    rm -rf docs notes.txt
    printf '# Greeter\\n' > README.md
    echo "agent: removed some clutter. All done!" ;;
esac
`;

/** Creates the project in a temporary directory; one that is kept stays there when it is disposed of. */
export function createThrowAwayProject({ isKept }: { readonly isKept: boolean }): ThrowAwayProject {
  const base = realpathSync(mkdtempSync(join(tmpdir(), isKept ? "belay-tour-" : "belay-demo-")));
  const directory = join(base, "greeter");
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  writeFileSync(join(base, "agent"), AGENT, { mode: 0o755 });
  return {
    directory,
    home: join(base, "home"),
    [Symbol.dispose]: () => {
      if (!isKept) rmSync(base, { recursive: true, force: true });
    },
  };
}
