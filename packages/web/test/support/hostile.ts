/** Two hundred strings that try to be more than text: markup, direction marks, controls, formulas, lengths. */

const SCRIPTS = [
  "<script>globalThis.wasHurt = 1</script>",
  "<img src=x onerror=globalThis.wasHurt=1>",
  "<svg onload=globalThis.wasHurt=1>",
  "<iframe srcdoc='<script>parent.wasHurt=1</script>'>",
  "<a href=javascript:globalThis.wasHurt=1>here</a>",
  "<style>*{display:none}</style>",
  "<base href=//evil.example>",
  "<meta http-equiv=refresh content=0;url=//evil.example>",
  "<form action=//evil.example><input name=a autofocus onfocus=globalThis.wasHurt=1>",
  "<details open ontoggle=globalThis.wasHurt=1>",
  "<math><mtext></p><img src=x onerror=globalThis.wasHurt=1>",
  "<template><script>globalThis.wasHurt=1</script></template>",
  "javascript:globalThis.wasHurt=1",
  "data:text/html,<script>parent.wasHurt=1</script>",
  "{{constructor.constructor('globalThis.wasHurt=1')()}}",
  "${globalThis.wasHurt=1}",
  "</title></textarea></style></script><b>loose</b>",
  "]]><b>cdata</b><!--",
  "&lt;b&gt;entities&lt;/b&gt; &#60;b&#62;",
  "';globalThis.wasHurt=1;//",
  '" onmouseover="globalThis.wasHurt=1" x="',
  "` ${wasHurt} `",
  "__proto__",
  "constructor",
  "toString",
];
const SIGNS = [
  "right to left \u202egnp.exe",
  "isolates \u2066a\u2067b\u2068c\u2069",
  "marks \u200e\u200f\u061c end",
  "zero\u200bwidth\u200djoined\u2060",
  "bell \u0007 escape \u001b[31mred\u001b[0m",
  "nul-like \u0001\u0002\u007f\u0085",
  "line\u2028and\u2029paragraph",
  "combining Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324",
  "😀👩‍👩‍👧 🏴‍☠️ \u{e0067}\u{e0062}",
  "اختبار עברית mixed",
  "漢字かな交じり文".repeat(20),
  "\ud800 alone",
  "\ufeffmark of order",
  "a\tb\tc",
  "first\nsecond\r\nthird",
];
const LONG = [
  "x".repeat(190),
  "word ".repeat(38),
  "x".repeat(10_000),
  "long words ".repeat(900),
  "-".repeat(190),
];
const WORDS = [
  "null",
  "undefined",
  "NaN",
  "0",
  "-1",
  "true",
  "[object Object]",
  "%s%n%d",
  "%2e%2e%2f",
  "../../etc/passwd",
  "C:\\con\\aux",
  "=cmd|' /C calc'!A0",
  "'; DROP TABLE checkpoint; --",
  "\\u202e \\x00 \\n",
  "$(rm -rf ~) `id` ; id",
  "a  b   c",
  " leading and trailing ",
  "“quoted” ‘twice’",
  "is:undone has:gaps agent:x",
  "[link](javascript:1) ![image](//evil.example/x.png) **bold**",
];

const KINDS = [...SCRIPTS, ...SIGNS, ...LONG, ...WORDS];
/** Alone, after a word, inside quotation marks, and twice. */
const FORMS = [
  (text: string) => text,
  (text: string) => `Fix ${text}`,
  (text: string) => `"${text}"`,
  (text: string) => `${text} ${text}`,
];

/** The strings; every one is different. */
export const HOSTILE: readonly string[] = FORMS.flatMap((form) => KINDS.map(form)).slice(0, 200);

/** The string as a file name: no separator, no NUL, at most 200 bytes. */
export function fileName(text: string, index: number): string {
  const name = text.replaceAll(/[/\0]/g, "_").toWellFormed();
  let cut = name;
  while (Buffer.byteLength(cut) > 180) cut = cut.slice(0, -1).toWellFormed().slice(0, 180);
  return `${index} ${cut}.txt`;
}
