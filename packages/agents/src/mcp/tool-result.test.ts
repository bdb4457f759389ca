import { ContractError } from "@belay/protocol/errors";
import { expect, test } from "vitest";
import { failure } from "./tool-result.ts";

test("[R168] an error is without secrets, its hint too", () => {
  const secret = "hunter2-and-more";
  const told = failure(new ContractError("USAGE", "That is no name.", { hint: `Not --password ${secret}.` }));
  expect(JSON.stringify(told)).not.toContain(secret);
  expect(told.content).toMatchObject([{ text: expect.stringContaining("--password [redacted]") as string }]);
});
