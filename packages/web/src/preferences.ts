/** What this browser remembers of how the page looks. Nothing secret. */
import { useState } from "react";

/** A choice that is kept in this browser. */
export function usePreference<Value extends string>(
  name: string,
  otherwise: Value,
): [Value, (value: Value) => void] {
  const key = `belay-${name}`;
  const [value, setValue] = useState(() => (localStorage.getItem(key) as Value | null) ?? otherwise);
  return [
    value,
    (next) => {
      localStorage.setItem(key, next);
      setValue(next);
    },
  ];
}
