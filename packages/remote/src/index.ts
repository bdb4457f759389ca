/** `@belay/remote`: encrypted copies of a workspace's history on an object store. */
export {
  RemoteFailure,
  type FailureKind,
  type PutOutcome,
  type RemoteStore,
  type StoredObject,
} from "./stores/remote-store.ts";
export { MemoryRemoteStore } from "./stores/memory-remote-store.ts";
export { parseS3Address, type S3Address } from "./stores/s3-address.ts";
export { S3RemoteStore, type S3Access, type S3Options } from "./stores/s3-remote-store.ts";
export { isPostgresAddress, parsePostgresAddress, type PostgresAddress } from "./stores/postgres-address.ts";
export { PostgresRemoteStore, type PostgresAccess } from "./stores/postgres-remote-store.ts";
export { MixedRemoteStore } from "./stores/mixed-remote-store.ts";
export { CachingRemoteStore } from "./stores/caching-remote-store.ts";
export { RetryingRemoteStore, type Patience } from "./stores/retrying-remote-store.ts";
export type { Abilities } from "./stores/probe.ts";
export { formatRecoveryKey } from "./keys/recovery-key.ts";
export { REAL_SURROUNDINGS, type Surroundings } from "./sync/surroundings.ts";
export { addRemote, type AddedRemote, type NewRemote } from "./sync/add-remote.ts";
export { cloneLine, type ClonedWorkspace, type CloneRequest } from "./sync/clone-line.ts";
export { findStoredSpace, type StoredSpace } from "./sync/delete-space.ts";
export { findRemote } from "./sync/find-remote.ts";
export { openRemote, type LineRequest, type OpenedRemote } from "./open-remote.ts";
export type { PushedLine, PushRequest, RemoteExchange } from "./sync/remote.ts";
export type { RemoteHost } from "./sync/remote-host.ts";
export type { VerifiedRemote, VerifyOptions } from "./sync/verify-remote.ts";
export type { FetchReport } from "./sync/fetch.ts";
export type { LineReader, PulledLines } from "./sync/line-reader.ts";
export type { LineCheckpoint, OtherLine } from "./sync/other-lines.ts";
export { describeRemote, type RemoteState } from "./sync/describe-remote.ts";
export {
  openMembers,
  ownIdentity,
  recoverMembership,
  type ListedMember,
  type MadePass,
  type PassRequest,
  type SpaceMembers,
} from "./sync/members.ts";
export type { Policy } from "./space/policy.ts";
export type { SpaceUsage } from "./sync/space-usage.ts";
export { isRole, ROLES, type Role } from "./keys/roles.ts";
export { invitationIn, openToken } from "./space/own-keys.ts";
export { downloadShared } from "./stores/download-shared.ts";
export { openShare, type OpenShare } from "./share/open-share.ts";
export type { LinkRequest } from "./share/make-share.ts";
export type { SharedLink } from "./share/share-facts.ts";
export {
  findHandoff,
  offerHandoff,
  renewHandoffs,
  type HandedMessage,
  type Handoff,
  type HandoffOffer,
  type RenewedOffers,
} from "./share/handoff.ts";
export { reviewThread, type ReviewRequest } from "./share/review.ts";
export type { LineThread } from "./sync/line-threads.ts";
export { looksLikeLink } from "./share/share-link.ts";
export { openShares, type Shares, type SharedWithMembers } from "./share/shares.ts";
export type { PushReport } from "./sync/push.ts";
export type { AdoptableLine } from "./sync/adoptable-line.ts";
export type { LineSize } from "./sync/line-size.ts";
export type { RewrittenLine } from "./sync/rewrite-line.ts";
export type { ObeyedForgets } from "./sync/obey-forgets.ts";
export type { SweepReport } from "./sync/sweep.ts";
