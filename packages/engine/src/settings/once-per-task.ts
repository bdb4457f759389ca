/** Reads at most once per task. A capture or restore is one synchronous task, so its settings stay the same throughout. */
export function oncePerTask<Value>(read: () => Value): () => Value {
  let held: { readonly value: Value } | undefined;
  return () => {
    if (held === undefined) {
      held = { value: read() };
      queueMicrotask(() => {
        held = undefined;
      });
    }
    return held.value;
  };
}
