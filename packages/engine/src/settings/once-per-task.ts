/** What is read at most once per task. */
export interface OncePerTask<Value> {
  (): Value;
  /** Begins a task: the next call reads again. */
  again(): void;
}

/**
 * Reads at most once per task. A capture or restore is one synchronous task, so its settings stay the same throughout. A
 * task ends when the event loop goes on, or when another begins: a synchronous program does many without a pause.
 */
export function oncePerTask<Value>(read: () => Value): OncePerTask<Value> {
  let held: { readonly value: Value } | undefined;
  const again = () => {
    held = undefined;
  };
  const once = () => {
    if (held === undefined) {
      held = { value: read() };
      queueMicrotask(again);
    }
    return held.value;
  };
  return Object.assign(once, { again });
}
