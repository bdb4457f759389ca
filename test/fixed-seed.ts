/**
 * Random tests try the same things each time, so that a change is judged by what it changes: what other seeds find
 * belongs to `npm run torture`, or to BELAY_SEED=<number>.
 */
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env["BELAY_SEED"]) });
