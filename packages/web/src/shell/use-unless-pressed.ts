import { useEffect, useState } from "react";

/** A value as it is, or as it was when the button of the pointer went down, until it is up again. */
export function useUnlessPressed<Value>(value: Value): Value {
  const [held, setHeld] = useState<{ readonly value: Value }>();
  useEffect(() => {
    const ending = new AbortController();
    const release = () => setHeld(undefined);
    const on = (name: string, listener: () => void) =>
      addEventListener(name, listener, { capture: true, signal: ending.signal });
    on("pointerdown", () => setHeld({ value }));
    on("pointerup", () => afterClick(release));
    on("pointercancel", release);
    on("blur", release);
    return () => ending.abort();
  }, [value]);
  return held === undefined ? value : held.value;
}

/** The click that a press ends with comes before the next message. */
function afterClick(then: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener("message", () => {
    port1.close();
    then();
  });
  port1.start();
  port2.postMessage(null);
}
