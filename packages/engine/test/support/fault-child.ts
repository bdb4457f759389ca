/** One operation in a process of its own, for a fault to hit. Prints what came of it as one line of JSON. */
import { carryOut, type Operation } from "./fault-operations.ts";

const [operation, root, home] = process.argv.slice(2) as [Operation, string, string];
process.stdout.write(`${JSON.stringify(await carryOut(operation, { root, home }, { forgotten: false }))}\n`);
