import { defineCommand, THREAD } from "../call/command.ts";

export default defineCommand({
  usage: "timeline [--thread t] [--ascii] [--mouse] [--no-color]",
  about: [
    "Opens the timeline of this project in the terminal: turns, your checkpoints, restores, newest first, as they",
    "happen. From there: diffs, details, undo, restore. `?` lists the keys. Without a terminal it prints `belay log`.",
  ].join("\n"),
  options: {
    thread: THREAD,
    ascii: { type: "boolean", about: "draw with ASCII signs only" },
    mouse: { type: "boolean", about: "wheel and selecting a row by mouse; the mouse never acts" },
    "no-color": { type: "boolean", about: "without colours; words and signs say everything" },
  },
  operands: { min: 0, max: 0 },
  examples: ["belay timeline", "belay timeline --ascii", "belay timeline --thread 3f2a"],
  run: async (call) => {
    const { showTimeline } = await import("../wiring/show-timeline.ts");
    const { thread, ascii = false, mouse = false, "no-color": plain = false } = call.options;
    return showTimeline(call, { thread, ascii, mouse, plain });
  },
});
