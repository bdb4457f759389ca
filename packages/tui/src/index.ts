/** Belay in the terminal: screens over the protocol's client. Importing this loads Ink; `@belay/tui/text` does not. */
export type { Connection, Place } from "./data/connection.ts";
export { runScreens, type ScreenOptions } from "./run-screens.tsx";
