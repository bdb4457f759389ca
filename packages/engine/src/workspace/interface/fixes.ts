/** The part of a workspace that records loops of fixes and their attempts. */
import type { Checkpoint } from "../../model/checkpoint.ts";
import type { Fix, FixIssue, FixRequest, FixUpdate } from "../../model/fix.ts";

/** Records of loops that fix what a review found; `workspace.fixes`. */
export interface Fixes {
  /** The loops of all working copies, newest first. */
  list(options?: { readonly limit?: number }): Promise<Fix[]>;
  /** A loop by its id or the beginning of it; throws `FIX_NOT_FOUND`. */
  find(ref: string): Promise<Fix>;
  begin(request: FixRequest): Promise<Fix>;
  /** Takes the checkpoint before an attempt: `ofSeverity` is its number among those of its severity. */
  beginAttempt(
    fix: string,
    attempt: {
      readonly number: number;
      readonly ofSeverity: number;
      readonly severity: string;
      readonly issues: readonly FixIssue[];
    },
  ): Promise<Checkpoint>;
  endAttempt(
    fix: string,
    number: number,
    ended: { readonly run: string | null; readonly issues: readonly FixIssue[]; readonly takenBack: boolean },
  ): Promise<void>;
  /** Records that loops whose process was killed wait for a decision; a process that stays calls this now and then. */
  noticeKilled(): Promise<void>;
  /** Records that a loop needs a decision, goes on, or is over. */
  update(fix: string, update: FixUpdate): Promise<Fix>;
}
