/** The command line from its source, for processes in which the engine's source is changed. */
import { main } from "../packages/cli/src/main.ts";

process.exitCode = await main(process.argv.slice(2));
