const REASONS: Readonly<Record<string, string>> = {
  "too-large": "over the limit",
  limit: "over the limit of a checkpoint",
  unreadable: "not readable",
  special: "not a file with content",
  forgotten: "permanently forgotten",
  withheld: "its owner keeps it at home",
};

/** Why a file was not captured, in words. */
export function gapReason(reason: string): string {
  return REASONS[reason] ?? reason;
}
