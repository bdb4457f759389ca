/**
 * `-i`: the files of a plan as a list of switches, and the hunks of one of them one after another. Nothing is changed
 * here; leaving at any point leaves everything as it is.
 */
import type { ChosenHunks, Plan, PlannedDiff, Workspace } from "@belay/engine";
import { count, cutToWidth, displayWidth, visibleLine, wrap } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import { Questions } from "../call/questions.ts";
import { amountOf, marksOf, type EditListContext } from "./edit-list.ts";
import { Choice, parseNumbers, type ChosenFile } from "./choice.ts";
import { visiblePath } from "../output/visible.ts";

/** What a choice is made on. */
export interface ChooseContext extends Pick<EditListContext, "agents" | "output"> {
  readonly workspace: Workspace;
  readonly plan: Plan;
  readonly verb: string;
  /** Shows the diff of these files, in a pager where it is long. */
  showDiff(this: void, files: readonly ChosenFile[]): Promise<void>;
}

/** The limits of the plan; undefined where the person left without choosing. */
export async function choose(
  call: Pick<Call, "output">,
  context: ChooseContext,
): Promise<readonly ChosenHunks[] | undefined> {
  const { files } = await context.workspace.planDetails(context.plan);
  const choice = new Choice(files);
  using questions = new Questions();
  const chooser = new Chooser(choice, questions, context);
  chooser.list();
  call.output.print(hint(context.output.width));
  for (;;) {
    const answer = await questions.ask(chooser.prompt());
    if (answer === undefined || /^q(uit)?$/i.test(answer)) return undefined;
    if (/^y(es)?$/i.test(answer)) {
      if (choice.count > 0) return choice.limits();
      call.output.print("No file is chosen. q leaves everything as it is.");
    } else await chooser.answer(answer);
  }
}

function hint(width: number): string {
  return wrap(
    "Numbers switch files off and on (1 3-5). h 2: the changes of file 2 one by one. d: diff, d 2: of one file. a: all, n: none. y: do it. q: leave everything as it is.",
    Math.min(width, 100),
    "  ",
  );
}

class Chooser {
  readonly #choice: Choice;
  readonly #questions: Questions;
  readonly #context: ChooseContext;

  constructor(choice: Choice, questions: Questions, context: ChooseContext) {
    this.#choice = choice;
    this.#questions = questions;
    this.#context = context;
  }

  prompt(): string {
    const { output, verb } = this.#context;
    const { files, count: chosen } = this.#choice;
    const what =
      chosen === files.length ? count(chosen, "file") : `${chosen} of ${count(files.length, "file")}`;
    return `${output.style.bold(`${verb[0]!.toUpperCase()}${verb.slice(1)} ${what}?`)} [y/q/?] `;
  }

  list(): void {
    const { output } = this.#context;
    output.print(this.#choice.files.map((file, index) => this.#line(file, index)).join("\n"));
  }

  async answer(answer: string): Promise<void> {
    const { files } = this.#choice;
    const numbers = parseNumbers(answer, files.length);
    const [, letter, rest = ""] = /^([a-z?])\s*(.*)$/i.exec(answer) ?? [];
    const given = rest === "" ? undefined : parseNumbers(rest, files.length);
    if (numbers !== undefined) numbers.forEach((index) => this.#choice.toggle(index));
    else if (letter === "a" || letter === "n") this.#choice.setAll(letter === "a" ? "all" : "none");
    else if (letter === "d" && (rest === "" || given !== undefined)) return this.#showDiff(given);
    else if (letter === "h" && (given?.length === 1 || (rest === "" && files.length === 1)))
      await this.#walkHunks(given?.[0] ?? 0);
    else if (letter !== "l") return this.#context.output.print(hint(this.#context.output.width));
    this.list();
  }

  #showDiff(given: readonly number[] | undefined): Promise<void> {
    const { files } = this.#choice;
    const shown = given?.map((index) => files[index]!) ?? files;
    return this.#questions.aside(() => this.#context.showDiff(shown));
  }

  /** `2 [x] ~ src/client.ts  +6 -12  by hand too`; what does not fit is cut from the path. */
  #line({ file, chosen }: ChosenFile, index: number): string {
    const { output } = this.#context;
    const { style, width } = output;
    const sign = { delete: "-", change: "~", create: "+", mode: "m" }[file.change];
    const box = chosen === "all" ? "[x]" : chosen === "none" ? "[ ]" : "[~]";
    const part = typeof chosen === "string" ? [] : [`${count(chosen.size, "change")} of it`];
    const remarks = [amountOf(file), ...marksOf(file, this.#context), ...part].filter((each) => each !== "");
    const head = `${String(index + 1).padStart(String(this.#choice.files.length).length)} ${box} ${sign} `;
    const tail = remarks.length === 0 ? "" : `  ${remarks.join(", ")}`;
    const room = width - displayWidth(head) - displayWidth(tail);
    if (room >= SHORTEST || tail === "")
      return head + cutToWidth(visiblePath(file.path), Math.max(room, SHORTEST)) + style.dim(tail);
    const below = cutToWidth(`${" ".repeat(head.length)}${tail.trim()}`, width);
    return `${head}${cutToWidth(visiblePath(file.path), width - head.length)}\n${style.dim(below)}`;
  }

  async #walkHunks(index: number): Promise<void> {
    const { workspace, plan, output } = this.#context;
    const chosenFile = this.#choice.files[index]!;
    const { path } = chosenFile.file;
    const diff = await workspace.diffPlanned(plan, { path, large: true });
    if (diff === null || diff.choices < 2)
      return output.print(`${visiblePath(path)} is one change: its number switches it.`);
    const before = chosenFile.chosen;
    const chosen = new Set<number>(
      before === "all"
        ? Array.from({ length: diff.choices }, (_, at) => at)
        : before === "none"
          ? []
          : before,
    );
    if (await this.#askHunks(diff, chosen)) this.#choice.setHunks(index, chosen, diff.choices);
  }

  /** False where the person left: the file is then as it was before. */
  async #askHunks(diff: PlannedDiff, chosen: Set<number>): Promise<boolean> {
    const { output, verb } = this.#context;
    for (let at = 0; at < diff.choices;) {
      output.print(hunkText(diff, at, output));
      const now = chosen.has(at) ? "Y/n" : "y/N";
      const question = `${verb[0]!.toUpperCase()}${verb.slice(1)} change ${at + 1} of ${diff.choices}?`;
      const answer = await this.#questions.ask(`${output.style.bold(question)} [${now}/a/d/b/q] `);
      if (answer === undefined || answer === "q") return false;
      const rest = Array.from({ length: diff.choices - at }, (_, each) => at + each);
      if (answer === "a" || answer === "d") {
        for (const each of rest)
          if (answer === "a") chosen.add(each);
          else chosen.delete(each);
        return true;
      }
      if (answer === "b") at = Math.max(0, at - 1);
      else if (answer === "" || answer === "y" || answer === "n") {
        if (answer === "y") chosen.add(at);
        if (answer === "n") chosen.delete(at);
        at += 1;
      } else output.print(wrap(HUNK_HELP, Math.min(output.width, 100), "  "));
    }
    return true;
  }
}

const SHORTEST = 12;

const HUNK_HELP =
  "y: yes, n: no, Enter: as it is now, a: this one and all that follow, d: none of them, b: the one before, q: leave the file as it was chosen before.";

/** The lines of a hunk as they are now (-) and as they would be (+), none wider than the window. */
function hunkText(diff: PlannedDiff, at: number, { style, width }: ChooseContext["output"]): string {
  const { header, lines } = diff.hunks[at]!;
  const room = Number.isFinite(width) ? width : Number.MAX_SAFE_INTEGER;
  const paints = { "+": style.green, "-": style.red, " ": (text: string) => text };
  return [
    style.cyan(cutToWidth(visibleLine(header), room)),
    ...lines.map(({ type, text }) => paints[type](cutToWidth(visibleLine(type + text), room))),
  ].join("\n");
}
