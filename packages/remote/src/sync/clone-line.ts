/** Makes a workspace of a line of a space. */
import type { ReceivedWorkspace, Receiver, RemoteEntry } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import type { MemberKeys } from "../keys/key-pairs.ts";
import { isLineOf } from "../line/line-id.ts";
import { invitationIn, keysToEnterSpace } from "../space/own-keys.ts";
import { isKnownWriter, noteKnownWriter } from "../space/known-writers.ts";
import { findSpaces, keepSpace, type Space } from "../space/space.ts";
import { chosenLine, writerOf } from "./chosen-line.ts";
import { enterSpace, entryFor, probeForClone, SMALL_BYTES, soleSpace } from "./enter-space.ts";
import { Mirror } from "./mirror.ts";
import { receiveLine } from "./receive-line.ts";
import type { RemoteHost } from "./remote-host.ts";
import { translating } from "./translate-failure.ts";

/** What to clone. */
export interface CloneRequest {
  readonly url: string;
  /** The name that the remote gets in the clone. */
  readonly name: string;
  /** The beginning of a line's id, or the name of its writer; may be left out where there is one line. */
  readonly line?: string | undefined;
  /** The beginning of a checkpoint's id, which says which line is meant. */
  readonly checkpoint?: string | undefined;
  readonly directory: string;
  readonly recoveryKey?: string | undefined;
  /** Asked before the first content of another member is taken in; false ends the clone. */
  readonly mayReceive?: ((writer: string) => Promise<boolean>) | undefined;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** A workspace that was cloned. */
export interface ClonedWorkspace extends ReceivedWorkspace {
  readonly entry: RemoteEntry;
  readonly from: { readonly line: string; readonly segment: number };
  readonly bytes: number;
}

/** Makes a workspace of a line: the whole record, and all content. It goes on as a line of its own. */
export async function cloneLine(
  request: CloneRequest,
  host: RemoteHost,
  receive: (fill: (receiver: Receiver) => Promise<void>) => Promise<ReceivedWorkspace>,
): Promise<ClonedWorkspace> {
  return translating(async () => {
    const invitation = invitationIn(request.url);
    const url = invitation?.url ?? request.url;
    const store = host.connect(url);
    const { now, random } = host.around;
    const [found, ...others] = await findSpaces(store);
    if (found === undefined)
      throw new ContractError("REMOTE_NOT_FOUND", "There is no space at that address. Nothing was changed.", {
        hint: "`belay remote add <name> <url>`, in a workspace, makes one.",
        facts: { remotes: [] },
      });
    const id = soleSpace(found, others);
    const own = keysToEnterSpace(host, id);
    // what the server can do is needed at the end: it is found out meanwhile
    const probing = probeForClone(store, { random, now, largeBytes: SMALL_BYTES });
    return await waitingFor(probing, async () => {
      const lookedAt = now();
      const space = await enterSpace(store, { space: id, request, own, host, invitation });
      keepSpace(host.home, space, lookedAt);
      const line = await chosenLine(space, request);
      await expectWanted(space, line, { request, own, host });
      using mirror = new Mirror(host.home, space.id);
      let got: Omit<ClonedWorkspace, keyof ReceivedWorkspace> | undefined;
      const received = await receive(async (receiver) => {
        const { last, bytes } = await receiveLine(space, line, {
          receiver,
          mirror,
          progress: request.progress,
          around: host.around,
        });
        const from = { line, segment: last.number };
        const began = JSON.stringify({ line, number: last.number });
        const facts = { member: own.id, abilities: await probing, host, began };
        const entry = entryFor({ name: request.name, url }, space, facts);
        // killed later, the clone still knows where it came from
        receiver.addRemote(entry);
        got = { entry, from, bytes };
      });
      return { ...received, ...got! };
    });
  });
}

/** Waits for what is under way, so that nothing continues after its caller has failed. */
async function waitingFor<Result>(other: Promise<unknown>, work: () => Promise<Result>): Promise<Result> {
  // its failure is reported where its result is needed
  const ended = other.catch(() => undefined);
  try {
    return await work();
  } finally {
    await ended;
  }
}

/** [R765] What another member wrote is taken in for the first time only when the user says so. */
async function expectWanted(
  space: Space,
  line: string,
  asking: { readonly request: CloneRequest; readonly own: MemberKeys; readonly host: RemoteHost },
): Promise<void> {
  const { request, own, host } = asking;
  if (isLineOf(line, own.id) || request.recoveryKey !== undefined || own.certificate !== undefined) return;
  const writer = await writerOf(space, line);
  if (writer === undefined || isKnownWriter(host.home, space.id, writer.member)) return;
  if ((await request.mayReceive?.(writer.name)) === false)
    throw new ContractError(
      "CONFIRMATION_REQUIRED",
      `What ${writer.name} wrote was not taken in. Nothing was changed.`,
      {
        hint: "--yes takes it in without asking.",
      },
    );
  noteKnownWriter(host.home, space.id, writer.member);
}
