/** What all fronts share: process-wide defaults, and the end. Each design is a subpath of its own. */
export { configureDropIn, type DropInOptions, type LogLine } from "./frame/options.ts";
export { closeDropIn } from "./frame/root.ts";
