/**
 * Takes secrets out of text that is shown: descriptions, warnings, logs. It is a net with known holes, for
 * what people paste into prompts and commands; stored messages and files are not changed by it.
 */
const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, "[redacted]"],
  [/\b(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9_-]{16,}/g, "[redacted]"],
  [
    /\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|npm|xox[abeoprs]|hf|dop_v1)[-_][A-Za-z0-9_-]{12,}/g,
    "[redacted]",
  ],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, "[redacted]"],
  [/\bAIza[A-Za-z0-9_-]{30,}/g, "[redacted]"],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, "[redacted]"],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, "$1 [redacted]"],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,200}:)[^\s/@]{1,200}@/gi, "$1[redacted]@"],
  [
    /((?:pass(?:word|wd|phrase)?|secret|token|api[-_]?key|access[-_]?key|credentials?)["']?\s{0,3}[=:]\s{0,3})("[^"]*"|'[^']*'|[^\s"']+)/gi,
    "$1[redacted]",
  ],
];

/** Longer texts are cut first: patterns are not run over megabytes. */
const LONGEST = 16_384;

export function redact(text: string): string {
  let shown = text.slice(0, LONGEST);
  for (const [pattern, replacement] of SECRETS) shown = shown.replace(pattern, replacement);
  return shown;
}
