/** Conflicts that another program brought: it gets the answers, and writes what they say itself. */
import { useState, type ReactNode } from "react";
import { useFrame } from "../../frame/frame.tsx";
import type { ConflictAnswers, ConflictQuestions } from "../../questions/conflicts.ts";
import { ConflictChooser } from "./conflict-chooser.tsx";

/** What is asked, and who gets the answers. */
export interface ConflictQuestionProps {
  readonly questions: ConflictQuestions;
  choose(answers: ConflictAnswers): void;
}

/** Asks, and closes when all was decided or left. */
export function ConflictQuestionScreen({ questions, choose }: ConflictQuestionProps): ReactNode {
  const frame = useFrame();
  const [answers, setAnswers] = useState<ConflictAnswers>();
  const done = (decided: ConflictAnswers) => {
    choose(decided);
    frame.close();
  };
  return (
    <ConflictChooser
      questions={questions}
      answered={setAnswers}
      apply={answers && (() => done(answers))}
      left={() => frame.close()}
    />
  );
}
