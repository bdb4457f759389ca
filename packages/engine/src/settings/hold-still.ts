/** Reads once for each piece of work. Work on a workspace is synchronous, so within one piece the value stays the same. */
export function holdStill<Value>(read: () => Value): () => Value {
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
