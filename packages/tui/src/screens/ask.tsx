/** Asks for one line of text: a note, tags, a name. */
import type { ReactNode } from "react";
import { useRef, useState } from "react";
import { useFrame, useKeys } from "../frame/frame.tsx";
import { box, line, span } from "../frame/line.ts";
import { Page } from "../frame/page.tsx";
import { useTextField } from "../frame/text-field.ts";
import { visibleLine } from "../text/visible.ts";

/** What is asked, and what happens to the answer. */
export interface AskProps {
  readonly title: string;
  /** What it is about. */
  readonly about: string;
  readonly label: string;
  readonly first?: string;
  /** What is said when it is done; an error keeps the question open. */
  answer(text: string): Promise<string>;
}

/** The screen that asks for one line of text. */
export function AskScreen({ title, about, label, first = "", answer }: AskProps): ReactNode {
  const frame = useFrame();
  const field = useTextField(first);
  const [problem, setProblem] = useState<string>();
  const { columns: width, signs } = frame;
  // Enter that is pressed once more does not answer twice
  const isSaving = useRef(false);
  const save = () => {
    if (isSaving.current) return;
    isSaving.current = true;
    answer(field.text.trim()).then(
      (said) => {
        frame.say([line(`${signs.done} ${said}`)]);
        frame.close();
      },
      (error: Error) => {
        isSaving.current = false;
        setProblem(error.message);
      },
    );
  };
  const keys = useKeys(
    [
      { keys: ["enter"], hint: { text: "save" }, run: save },
      { keys: ["esc"], hint: { text: "cancel" }, run: () => frame.close() },
      ...field.table,
    ],
    { typed: field.typed },
  );
  return (
    <Page
      head={box([line(visibleLine(about))], { width, signs, title })}
      body={[
        [span(`  ${label}`, { bold: true }), ...field.shown(signs.cursor)],
        ...(problem === undefined ? [] : [[], line(`  ${problem}`, { colour: "yellow" })]),
      ]}
      keys={keys}
    />
  );
}
