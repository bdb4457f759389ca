/** What members of a space approved here, and what becomes of that (`approvals.fromTeam`). */
import type { Review, Workspace } from "@belay/engine";
import { visible } from "../output/visible.ts";

/** A review, and whether it is approved here now. */
export interface FollowedReview extends Review {
  readonly applied: boolean;
}

/** The reviews that were not followed yet; with `apply` those are approved whose files are still as they were reviewed. */
export async function followReviews(home: string, workspace: Workspace): Promise<FollowedReview[]> {
  const reviews = workspace.exchange.reviews();
  if (reviews.length === 0) return [];
  const { readSettings } = await import("@belay/engine");
  const how = readSettings(home)["approvals.fromTeam"];
  if (how === "ignore") return [];
  const followed: FollowedReview[] = [];
  for (const review of reviews)
    followed.push({ ...review, applied: how === "apply" && (await approveAsReviewed(workspace, review)) });
  return followed;
}

async function approveAsReviewed(workspace: Workspace, review: Review): Promise<boolean> {
  const { thread, checkpoint, by, message } = review;
  const { files } = await workspace.diff({ from: checkpoint, detail: "counts" });
  // an older review of the same thread is followed with the newest
  const isOpen = workspace.exchange.reviews().some((one) => one.checkpoint === checkpoint);
  if (files.length > 0 || !isOpen) return false;
  const said = message === null ? "" : `: ${message}`;
  await workspace.approvals.approve(thread, { message: `Reviewed by ${by}${said}` });
  return true;
}

/** What members of a space approve of, for people. */
export function reviewsText(reviews: readonly FollowedReview[]): string[] {
  return reviews.map(({ thread, by, message, applied }) => {
    const said = message === null ? "" : `: ${visible(message)}`;
    const what = `${visible(by)} approves of thread ${thread}${said}.`;
    return applied
      ? `${what} It is approved here.`
      : `${what}\n→ \`belay approve --thread ${thread}\` follows.`;
  });
}

/** What members of a space approve of, for programs. */
export function reviewsJson(reviews: readonly FollowedReview[]) {
  return reviews.map(({ at, ...review }) => ({ ...review, at: new Date(at).toISOString() }));
}
