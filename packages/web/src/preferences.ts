/** What this browser remembers of how the page looks. Nothing secret. */
import { useState } from "react";

/** A choice that was kept in this browser. */
export function preference<Value extends string>(name: string, otherwise: Value): Value {
  return (localStorage.getItem(`belay-${name}`) as Value | null) ?? otherwise;
}

/** A choice that is kept in this browser, and how to change it. */
export function usePreference<Value extends string>(
  name: string,
  otherwise: Value,
): [Value, (value: Value) => void] {
  const key = `belay-${name}`;
  const [value, setValue] = useState(() => preference(name, otherwise));
  return [
    value,
    (next) => {
      localStorage.setItem(key, next);
      setValue(next);
    },
  ];
}

/** True where single letters act; they can be switched off, because speech and slips press them too. */
export function lettersAct(): boolean {
  return localStorage.getItem("belay-keys") !== "off";
}
