/**
 * A text that every match of a regular expression contains. Looking for it first spares most contents the expression.
 * It understands little of expressions, on purpose: whatever is not plainly a character ends the text.
 */
const SHORTEST = 3;

/** The longest such text; undefined when none is certain. */
export function literalOf(source: string): Buffer | undefined {
  // one alternative may match without the other; an escape may say more than its first letter
  if (/\||\\[ckpuxP\d]/.test(source)) return undefined;
  let [longest, run] = ["", ""];
  const end = () => {
    if (run.length > longest.length) longest = run;
    run = "";
  };
  for (const { text, isOptional } of atoms(source)) {
    if (text === undefined || isOptional) {
      end();
      continue;
    }
    run += text.character;
    if (text.isRepeated) end();
  }
  end();
  return longest.length < SHORTEST ? undefined : Buffer.from(longest, "utf8");
}

interface Atom {
  /** Undefined for everything but a character. */
  readonly text?: { readonly character: string; readonly isRepeated: boolean };
  readonly isOptional: boolean;
}

/** A character, a class or a whole group, each with its quantifier. */
const ATOM =
  /(?<character>[^\\^$.*+?()[\]{}|]|\\(?<escaped>[^\w\s]))(?<quantifier>[*+?]|\{\d*,?\d*\})?|\\.|\[(?:\\.|[^\]\\])*\]|[^]/suy;

function* atoms(source: string): Generator<Atom> {
  let depth = 0;
  for (const { 0: whole, groups } of source.matchAll(new RegExp(ATOM.source, "gsu"))) {
    if (whole === "(") depth += 1;
    if (whole === ")") depth -= 1;
    const character = groups?.["escaped"] ?? groups?.["character"];
    const quantifier = groups?.["quantifier"];
    // what a group holds may be optional, repeated or forbidden
    if (character === undefined || depth > 0) yield { isOptional: true };
    else
      yield {
        text: { character, isRepeated: quantifier !== undefined },
        isOptional: quantifier !== undefined && quantifier !== "+",
      };
  }
}
