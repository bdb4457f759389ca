import { describe } from "vitest";
import { testRemoteStore } from "../testing/remote-store-contract.ts";
import { MemoryRemoteStore } from "./memory-remote-store.ts";

describe("a remote in memory", () => {
  const store = new MemoryRemoteStore();
  testRemoteStore(() => store, { createOnly: true });
});
