/** Answers of the server, kept by name: what two snapshots differ in never changes, so it is fetched once. */
import { useEffect, useState } from "react";

/** Something that was asked for. */
export interface Loaded<Value> {
  /** The last answer, even while a newer one is on its way. */
  readonly value: Value | undefined;
  readonly error: Error | undefined;
  readonly isLoading: boolean;
}

const KEPT = 300;
const answers = new Map<string, unknown>();

/**
 * Loads what a name stands for; null asks for nothing. A name that ends in "!" is always asked again. A question that
 * passes the signal on is dropped as soon as its answer is not wanted any more.
 */
export function useLoaded<Value>(
  name: string | null,
  load: (signal: AbortSignal) => Promise<Value>,
): Loaded<Value> {
  const [state, setState] = useState<{ name: string | null; value?: Value; error?: Error }>({ name: null });
  const known = name === null ? undefined : (answers.get(name) as Value | undefined);
  useEffect(() => {
    if (name === null || known !== undefined) return;
    let isCurrent = true;
    const ending = new AbortController();
    load(ending.signal).then(
      (value) => {
        if (!name.endsWith("!")) keep(name, value);
        if (isCurrent) setState({ name, value });
      },
      (error: unknown) => {
        if (isCurrent) setState({ name, error: error as Error });
      },
    );
    return () => {
      isCurrent = false;
      ending.abort();
    };
    // a name stands for one question: `load` is the same for the same name
  }, [name]);
  if (known !== undefined) return { value: known, error: undefined, isLoading: false };
  const isCurrent = state.name === name;
  return {
    value: state.value,
    error: isCurrent ? state.error : undefined,
    isLoading: name !== null && !isCurrent,
  };
}

/** The answer that a name stands for, asked for once. */
export async function loadOnce<Value>(name: string, load: () => Promise<Value>): Promise<Value> {
  const known = answers.get(name) as Value | undefined;
  if (known !== undefined) return known;
  const value = await load();
  if (!name.endsWith("!")) keep(name, value);
  return value;
}

function keep(name: string, value: unknown): void {
  answers.set(name, value);
  if (answers.size > KEPT) answers.delete(answers.keys().next().value!);
}
