import * as shapes from "./shapes.ts";

export type { BelayEvent } from "./events.ts";
export { openApiDocument } from "./openapi.ts";
export { ROUTES, type Route, type RouteAnswer, type RouteName } from "./routes.ts";
export { shapes };
export type { CallInput, CallOutput } from "./client.ts";
export type { Json } from "./shapes.ts";
