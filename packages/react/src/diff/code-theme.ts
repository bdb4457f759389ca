/**
 * The colours of code, by what the highlighter calls its parts: variables of the style sheet, so that they follow the theme
 * of the page. The ones that the diff view brings are too pale on white, and more so on changed lines.
 */
export const CODE_THEME = "belay";

/** What each part of code is drawn in. */
export const CODE_COLOURS: Readonly<Record<string, string>> = {
  foreground: "var(--belay-text)",
  background: "var(--belay-panel)",
  "token-comment": "var(--belay-c)",
  "token-string": "var(--belay-s)",
  "token-string-expression": "var(--belay-s)",
  "token-constant": "var(--belay-n)",
  "token-keyword": "var(--belay-k)",
  "token-parameter": "var(--belay-text)",
  "token-function": "var(--belay-f)",
  "token-punctuation": "var(--belay-text)",
  "token-link": "var(--belay-f)",
  "token-inserted": "var(--belay-add)",
  "token-deleted": "var(--belay-del)",
};
