/** What a member writes that keeps to no rule. */
import { randomBytes } from "node:crypto";
import type { MemberKeys } from "../../src/keys/key-pairs.ts";
import { createHead, sealSegment } from "../../src/line/segment.ts";
import type { Space } from "../../src/space/space.ts";
import type { MemoryRemoteStore } from "../../src/stores/memory-remote-store.ts";
import type { Machine } from "./machines.ts";

/** Writes the next segment of a machine's line, past everything that would stop it at home. */
export async function forceSegment(
  machine: Machine,
  store: MemoryRemoteStore,
  { keys, space }: { keys: MemberKeys; space: Space },
): Promise<string> {
  const { line, segment, segmentHash } = machine.workspace.exchange.remotes()[0]!;
  const key = space.names.segment(line, segment + 1);
  const head = createHead({
    line,
    number: segment + 1,
    previous: segmentHash,
    member: keys.id,
    device: "rogue",
    at: 0,
    from: null,
    seen: {},
    sweep: 0,
    ...(keys.certificate && { certificate: keys.certificate }),
  });
  const content = { head, records: [], index: new Map(), content: [], uses: [] };
  const secret = space.secrets.get(Math.max(...space.secrets.keys()))!;
  const bytes = sealSegment(content, { key, secret, salt: randomBytes(32), signer: keys.sign });
  await store.put(key, bytes, { createOnly: false });
  return key;
}
