/** The person's own editor, on a file and a line. */
import { spawn } from "node:child_process";
import { basename } from "node:path";

/** How an editor takes a file and a line, by the name of its program. */
const GO_TO_LINE: readonly (readonly [RegExp, (file: string, line: number) => string[]])[] = [
  [
    /^(vi|vim|nvim|view|nano|pico|emacs|emacsclient|micro|kak|joe|ne|mg|jed)$/,
    (file, line) => [`+${line}`, file],
  ],
  [/^(code|code-insiders|codium|cursor|windsurf)$/, (file, line) => ["--wait", "--goto", `${file}:${line}`]],
  [/^(hx|helix|subl|zed)$/, (file, line) => [`${file}:${line}`]],
];

/** The editor of an environment: `VISUAL`, else `EDITOR`; undefined when there is none. */
export function editorOf({ VISUAL, EDITOR }: NodeJS.ProcessEnv): string | undefined {
  return VISUAL?.trim() || EDITOR?.trim() || undefined;
}

/** The words after the editor's own. An editor that is not known gets the file alone. */
export function editorWords(editor: string, file: string, line: number): string[] {
  const name = basename(editor.split(/\s+/, 1)[0]!);
  const words = GO_TO_LINE.find(([names]) => names.test(name))?.[1];
  return words === undefined ? [file] : words(file, line).filter((word) => !editor.includes(word));
}

/** Runs the editor in this terminal until it ends; true when it ended well. The terminal must be its own meanwhile. */
export function runEditor(editor: string, words: readonly string[]): Promise<boolean> {
  // an editor's setting may have options of its own, as a shell would read them
  const child = spawn("sh", ["-c", `${editor} "$@"`, "editor", ...words], { stdio: "inherit" });
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
}
