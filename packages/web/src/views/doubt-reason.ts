const DOUBTS: Readonly<Record<string, string>> = {
  late: "captured late, after the agent went on",
  unstable: "captured while it was being written",
  missed: "found later",
};

/** Why the content of a file may not be what it was at that moment, in words. */
export function doubtReason(reason: string): string {
  return DOUBTS[reason] ?? reason;
}
