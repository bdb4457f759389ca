import { defineCommand } from "../command.ts";
import { EXIT } from "../exit-code.ts";

export default defineCommand({
  usage: "stop",
  about: "The resident process that captures within milliseconds. This version does not have it yet.",
  options: {},
  operands: { min: 0, max: 0 },
  run: (call) => {
    if (call.json) call.output.json({ running: false });
    else call.output.print("The resident process is not running: this version does not have one yet.");
    return Promise.resolve(EXIT.done);
  },
});
