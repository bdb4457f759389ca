/**
 * The forms that an answer to an agent may have. A hook prints one of these or the neutral answer, whatever it received: none
 * of them allows or approves anything. The only one that intervenes, `block`, keeps Belay's own slash commands out of the
 * conversation.
 */

/** What a hook prints when there is nothing to report. */
export const NEUTRAL_ANSWER = "{}";

const TEXTS = ["systemMessage", "additionalContext", "additional_context", "context", "warning"];

/** A regular expression for the whole answer, in the dialect of which `[^"\]` without control characters is `plain`. */
function formFor(plain: string): string {
  const text = `"${plain}*(\\\\.${plain}*)*"`;
  const parts = [
    `"(${TEXTS.join("|")})":${text}`,
    `"continue":true`,
    `"decision":"block","reason":${text}`,
    `"hookSpecificOutput":\\{"hookEventName":"[A-Za-z]+","additionalContext":${text}\\}`,
  ];
  const part = `(${parts.join("|")})`;
  return `^\\{(${part}(,${part})*)?\\}$`;
}

const FORM = new RegExp(formFor(String.raw`[^"\\\u0000-\u001f]`));

/** For the compiled hook, whose locale is one of bytes. */
export const POSIX_ANSWER_FORM = formFor(String.raw`[^"\\[:cntrl:]]`);

/** True for an answer that a hook may print. */
export function isAnswer(text: string): boolean {
  return FORM.test(text);
}
