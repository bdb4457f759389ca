/** How every answer leaves the server: as JSON, without the secrets that people and agents wrote [R167]. */
import { redactJson } from "@belay/protocol/redact";

/** A JSON answer without secrets. */
export function answerJson(value: object, status = 200): Response {
  return Response.json(redactJson(value), { status });
}
