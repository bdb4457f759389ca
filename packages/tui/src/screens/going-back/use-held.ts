/** A key that is held down must not answer the question that follows a refused plan. */
import { useRef } from "react";

/** Longer than the time before a held key begins to repeat. */
const HELD_MS = 700;

/** `refuse` begins a pause; `isPressed` tells a new press from the repetitions of one that is still held. */
export function useHeld() {
  const until = useRef(0);
  return {
    refuse: () => void (until.current = performance.now() + HELD_MS),
    isPressed(): boolean {
      const now = performance.now();
      if (now >= until.current) return true;
      until.current = now + HELD_MS;
      return false;
    },
  };
}
