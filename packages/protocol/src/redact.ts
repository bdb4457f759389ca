/**
 * The one place that removes secrets from what Belay shows or sends: prompts, commands, descriptions, titles,
 * messages [R167]. It knows the forms of keys that services issue, headers, addresses with passwords, command
 * options, and names that announce a secret. It is a net with holes: a secret without a form or a name stays.
 * It does not change what the store keeps or the content of files. Every pattern is bounded: time grows
 * linearly with the text.
 */
const REDACTED = "[redacted]";

/** Keys that are recognised by their form. */
const TOKENS = [
  String.raw`-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,20000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|$)`,
  String.raw`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`,
  String.raw`\bgh[oprsu]_[A-Za-z0-9]{20,255}`,
  String.raw`\bgithub_pat_\w{20,255}`,
  String.raw`\bgl(?:pat|dt|rt|ptt|cbt|agent|soat|ft)-[\w-]{16,100}`,
  String.raw`\bxox[abeoprs]-[\w-]{10,250}`,
  String.raw`\bxapp-\d-[\w-]{10,250}`,
  String.raw`\bhooks\.slack\.com/services/[\w/]{20,100}`,
  String.raw`\b[prs]k_(?:live|test)_[A-Za-z0-9]{10,250}`,
  String.raw`\bwhsec_[\w+/=]{20,100}`,
  String.raw`\bsk-(?:[a-z]{2,12}\d{0,2}-){0,3}(?=[\w-]{0,250}\d)[\w-]{20,250}`,
  String.raw`\bAIza[\w-]{30,60}`,
  String.raw`\bya29\.[\w-]{20,500}`,
  String.raw`\bGOCSPX-[\w-]{20,60}`,
  String.raw`\bnpm_[A-Za-z0-9]{30,60}`,
  String.raw`\bpypi-AgEI[\w-]{20,250}`,
  String.raw`\brubygems_[0-9a-f]{40,60}`,
  String.raw`\bhf_[A-Za-z0-9]{30,60}`,
  String.raw`\bdo[opr]_v1_[0-9a-f]{40,80}`,
  String.raw`\bSG\.[\w-]{16,40}\.[\w-]{16,80}`,
  String.raw`\bkey-[0-9a-f]{32}\b`,
  String.raw`\bSK[0-9a-f]{32}\b`,
  String.raw`\b\d{8,10}:AA[\w-]{30,40}`,
  String.raw`\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,45}`,
  String.raw`\bshp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}`,
  String.raw`\bsq0(?:atp|csp|idp)-[\w-]{22,60}`,
  String.raw`\bdapi[0-9a-f]{32}\b`,
  String.raw`\blin_api_[A-Za-z0-9]{30,60}`,
  String.raw`\b(?:ntn|secret)_[A-Za-z0-9]{40,60}\b`,
  String.raw`\bfigd_[\w-]{30,60}`,
  String.raw`\bnfp_[A-Za-z0-9]{30,60}`,
  String.raw`\bpscale_(?:tkn|pw|oauth)_[\w.-]{30,80}`,
  String.raw`\bsb[ps]_[0-9a-f]{40,60}`,
  String.raw`\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}`,
  String.raw`\bNRAK-[A-Z0-9]{27}`,
  String.raw`\bglsa_\w{32}_[0-9a-f]{8}`,
  String.raw`\bdp\.(?:pt|st|ct|sa)\.[\w.-]{30,80}`,
  String.raw`\bhv[bs]\.[\w-]{24,250}`,
  String.raw`\b[A-Za-z0-9]{14}\.atlasv1\.[\w-]{50,80}`,
  String.raw`\bdckr_pat_[\w-]{20,60}`,
  String.raw`\bATATT3[\w=-]{50,250}`,
  String.raw`\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b`,
  String.raw`\bAGE-SECRET-KEY-1[A-Z0-9]{50,60}`,
  String.raw`\bgsk_[A-Za-z0-9]{40,80}`,
  String.raw`\br8_[A-Za-z0-9]{30,50}`,
  String.raw`\bxai-[A-Za-z0-9]{40,100}`,
  String.raw`\bpplx-[0-9A-Za-z]{40,60}`,
  String.raw`\btskey-(?:auth|api|client)-[\w-]{16,80}`,
  String.raw`\bbelay-(?:token|invitation|link)-1\.[\w-]{10,16000}`,
  // one that was cut off
  String.raw`\b(?:sk-|gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|AKIA|ASIA|AIza|npm_|hf_|eyJ|SG\.|[prs]k_(?:live|test)_)[\w.-]{2,60}…`,
  String.raw`\beyJ[\w-]{8,4000}\.[\w-]{8,8000}\.[\w-]{0,2000}`,
];

/** Words before a secret; the last part is removed. */
const PLACES = [
  // headers
  String.raw`\b((?:proxy-)?authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:[A-Za-z]{3,12}\s{1,3})?)[^\s"',;]{3,4000}`,
  String.raw`\b((?:set-)?cookie["']?\s{0,3}:\s{0,3}["']?)[^\s"'=]{1,100}=[^\n"']{4,4000}`,
  String.raw`\b(Bearer\s{1,3})(?=[^\s"']{0,4000}\d)[\w.~+/=-]{12,4000}`,
  String.raw`\b(Basic\s{1,3})(?=[A-Za-z0-9+/]{0,500}[0-9=])[A-Za-z0-9+/]{12,500}={0,2}`,
  // addresses
  String.raw`\b([a-z][a-z0-9+.-]{1,20}://[^\s/:@"']{0,200}:)[^\s/@"']{1,200}(?=@)`,
  String.raw`\b([a-z][a-z0-9+.-]{1,20}://)(?=[^\s/:@"']{0,200}\d)[^\s/:@"']{20,200}(?=@)`,
  String.raw`([?&](?:sig|signature|x-amz-signature|access_token|auth|key)=)[^\s&"'#]{8,2000}`,
  // .netrc
  String.raw`(\blogin\s{1,3}\S{1,100}\s{1,3}password\s{1,3})\S{1,200}`,
  // options of programs that take a password where others take a port or a directory
  String.raw`(\b(?:mysql|mysqldump|mysqladmin|mariadb|7z[ar]?)\b[^|;&\n]{0,300}?\s-p)(?!\s)[^\s-]\S{0,200}`,
  String.raw`(\b(?:sshpass|docker\s+login|podman\s+login|helm\s+registry\s+login|mongo(?:sh|dump|restore|import|export)?|az\s+login|oc\s+login)\b[^|;&\n]{0,300}?\s-p\s{0,3})(?:"[^"\n]{1,200}"|'[^'\n]{1,200}'|[^\s"'-]\S{0,200})`,
  String.raw`(\b(?:redis-cli)\b[^|;&\n]{0,300}?\s-a\s{0,3})[^\s-]\S{0,200}`,
  String.raw`(\b(?:zip|unzip|sqlcmd)\b[^|;&\n]{0,300}?\s-P\s{0,3})[^\s-]\S{0,200}`,
  String.raw`(\b(?:ldapsearch|ldapmodify|ldapadd|ldapdelete)\b[^|;&\n]{0,300}?\s-w\s{0,3})[^\s-]\S{0,200}`,
  String.raw`(\bcurl\b[^|;&\n]{0,500}?\s(?:-u|--user)\s{0,3}["']?[^\s:"']{1,200}:)[^\s"']{1,200}`,
  String.raw`(\bsmbclient\b[^|;&\n]{0,300}?\s-U\s{0,3}["']?[^\s%"']{1,200}%)[^\s"']{1,200}`,
  String.raw`(\b(?:-pass(?:in|out)?\s{1,3})?\bpass:)[^\s"']{1,200}`,
];

/** Names that announce a secret, as the end of a longer name. */
const NAME =
  "pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|(?:api|access|secret|private|account|auth|encryption|signing|master|shared[-_]?access)[-_ ]?key";

const VALUE = String.raw`(\s{0,3}(?:=>|:=|[=:])\s{0,3})("[^"\n]{0,2000}"|'[^'\n]{0,2000}'|[^\s"',;&|)}\]]{1,2000})`;

/** `PASSWORD=x`, `"apiKey": "x"`, `client_secret: x`, `Password=x;` */
const NAMED = new RegExp(String.raw`((?:^|[^A-Za-z0-9$])(?:${NAME})["'\]]{0,2})${VALUE}`, "gi");

/** `dbPassword: x` */
const CAMEL = new RegExp(
  String.raw`((?<=[a-z0-9])(?:Pass(?:word|wd|phrase|code)|Secret|Token|Credentials?|(?:Api|Access|Secret|Private|Account|Auth)Key)["'\]]{0,2})${VALUE}`,
  "g",
);

/** `--password x`, `--api-key=x` */
const OPTION = new RegExp(
  String.raw`(\s|^)(--?(?:[a-z0-9]{1,20}[-_]){0,3}(?:${NAME}))(\s{1,3}|=)("[^"\n]{1,2000}"|'[^'\n]{1,2000}'|[^\s"']{1,2000})`,
  "gi",
);

/** "my password is x" */
const SAID = new RegExp(
  String.raw`\b((?:${NAME})\s{1,2}(?:is|was|=)\s{1,2})("[^"\n]{4,200}"|'[^'\n]{4,200}'|\S{4,200})`,
  "gi",
);

const TOKEN_FORMS = new RegExp(TOKENS.join("|"), "g");
const PLACE_FORMS = PLACES.map((source) => new RegExp(source, "gi"));

/** Most texts have none of these: one quick test each, because lists are long. */
const MAY_BE_TOKEN = /[_:.…-]|A[BCKS][IC]A|AIza|SK[0-9a-f]|dapi|ATATT/;
const MAY_BE_PLACE =
  /auth|cookie|bearer|basic|:\/\/|[?&]|login|mysql|mariadb|7z|sshpass|mongo|redis|zip|sqlcmd|ldap|curl|smbclient|pass:/i;
const MAY_BE_NAME = /pass|pwd|secret|token|credential|key/i;

/** Removes secrets from a text. Idempotent. */
export function redact(text: string): string {
  if (text.length < SHORTEST) return text;
  let shown = MAY_BE_TOKEN.test(text) ? text.replace(TOKEN_FORMS, REDACTED) : text;
  if (MAY_BE_PLACE.test(shown)) for (const form of PLACE_FORMS) shown = shown.replace(form, `$1${REDACTED}`);
  if (!MAY_BE_NAME.test(shown)) return shown;
  return shown
    .replace(OPTION, (all, before: string, name: string, between: string, value: string) =>
      isOptionValue(value) ? `${before}${name}${between}${hidden(value)}` : all,
    )
    .replace(NAMED, hideNamed)
    .replace(CAMEL, hideNamed)
    .replace(SAID, (all, before: string, value: string) =>
      isSecretive(value) && isValue(value) ? `${before}${hidden(value)}` : all,
    );
}

const SHORTEST = 6;

function hideNamed(all: string, name: string, between: string, value: string): string {
  return isNamedValue(between, value) ? `${name}${between}${hidden(value)}` : all;
}

/** Keeps quotes, so that quoted text stays quoted. */
function hidden(value: string): string {
  const quote = /^["']/.exec(value)?.[0] ?? "";
  return `${quote}${REDACTED}${quote}`;
}

/** What follows an option in a sentence, not in a command. */
const WORDS =
  /^(?:and|or|is|are|was|to|in|for|with|on|the|a|an|as|at|by|from|when|if|of|it|that|this|has|have|not|no|but|so|then|instead|must|should|can|cannot|will|would|does|options?|flags?|arguments?|args?|parameters?|params?|switch|fields?|values?|given|twice|again|works?|takes?|via|here|there|too|first|only|because|which|unless|without)[.,;:!?)]*$/i;

function isOptionValue(value: string): boolean {
  return isValue(value) && !WORDS.test(value) && !/^[-|&;<>()]/.test(value);
}

/** After `=` nearly anything is a value; after a colon and a space it may be a sentence. */
function isNamedValue(between: string, value: string): boolean {
  if (!isValue(value)) return false;
  if (/^["']/.test(value)) return !(/\s/.test(value) && SENTENCE.test(value));
  return between === "=" || between === ":" ? true : isSecretive(value);
}

/** What a form or a message says of a secret. */
const SENTENCE =
  /\b(?:passwords?|passphrase|secrets?|tokens?|keys?|credentials?|your|enter|type|please|must|should|invalid|missing|required|wrong|expired|the|a|an|is|are|was|not|for|of|to)\b/i;

/** Not a variable, a call, a path, a placeholder or a plain word of programming. */
function isValue(value: string): boolean {
  const bare = value.replaceAll(/^["']|["',;.]+$/g, "");
  return !(
    bare === "" ||
    /^[$<{%*[(]|^(?:x{3,}|\.{2,})$/i.test(bare) ||
    /^(?:true|false|null|none|nil|undefined|required|optional|string|number|boolean|yes|no|on|off|auto|default|any|str|int|bool|bytes)\b[\])}?|]*$/i.test(
      bare,
    ) ||
    /^(?:process|os|env|self|this|config|settings|options|args|params|req|request|ctx|context|await|new|function|async|return)\b(?=$|[.[(\s])/.test(
      bare,
    ) ||
    /^[A-Za-z_][\w.]{0,80}\(/.test(bare) ||
    /^(?:~|\.{1,2})?(?:\/[\w.@+-]{1,30}){1,20}\/?$/.test(bare) ||
    /^(?:https?|file):\/\/[^@]*$/.test(bare) ||
    /^[A-Z][A-Z_]{2,40}$/.test(bare) ||
    /^(?:your|my|the|some|example|change)[-_ ]?[a-z_-]*(?:password|passwd|secret|token|key|here|me)$/i.test(
      bare,
    ) ||
    /^(?:password|passwd|passphrase|secret|token|key|credentials?|api[-_ ]?key)s?$/i.test(bare)
  );
}

/** Hardly a word: it has a digit or a sign in it, or is very long. */
function isSecretive(value: string): boolean {
  const bare = value.replaceAll(/^["']|["',;.:!?)]+$/g, "");
  if (/^\d{1,4}$|^\d+(?:\.\d+)*$/.test(bare)) return false;
  return (
    bare.length >= 6 &&
    (/[A-Za-z].*\d|\d.*[A-Za-z]|[!#%^&*+=@$~]/.test(bare) || (bare.length >= 16 && !/[-\s./]/.test(bare)))
  );
}

/** Fields that hold no text of people or agents: names of things, and the content of files, which is the user's. */
const NOT_WORDS = new Set([
  "id",
  "seq",
  "workspace",
  "thread",
  "thread_id",
  "dialog_id",
  "session",
  "kind",
  "type",
  "phase",
  "snapshot",
  "parents",
  "commit",
  "checkpoint",
  "checkpointId",
  "checkpoint_id",
  "messageId",
  "message_id",
  "toolUseId",
  "createdAt",
  "updatedAt",
  "at",
  "until",
  "hash",
  "object",
  "path",
  "paths",
  "pathBase64",
  "from",
  "fromBase64",
  "target",
  "file",
  "files_changed",
  "affectedFiles",
  "changedFiles",
  "root",
  "store",
  "directory",
  "url",
  "token",
  "pid",
  "planId",
  "restoredTo",
  "safetyCheckpoint",
  "newCheckpoint",
  "diff",
  "patch",
  "lines",
  "cat",
  "restore",
  "base_content",
  "baseContent",
  "base64",
  "version",
  "outcome",
  "encoding",
  "code",
  "confirm",
]);

/** Removes secrets from the texts of a value; the content and diffs of files stay. */
export function redactJson<Value>(value: Value): Value {
  return redactValue(value, "") as Value;
}

function redactValue(value: unknown, key: string): unknown {
  if (typeof value === "string") return NOT_WORDS.has(key) ? value : redact(value);
  if (Array.isArray(value)) return value.map((each) => redactValue(each, key));
  if (value === null || typeof value !== "object") return value;
  // a file's content comes with its encoding
  const isFile = "encoding" in value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if ((isFile && name === "content") || name === "hunks") return [name, each];
      return [name, isSecretField(name, each) ? REDACTED : redactValue(each, name)];
    }),
  );
}

const SECRET_FIELD = new RegExp(`(?:^|[a-z0-9_-])(?:${NAME})$`, "i");

/** `{ "apiKey": "…" }` in what an agent attached; our own answers have no such field but `token`. */
function isSecretField(name: string, value: unknown): boolean {
  return typeof value === "string" && !NOT_WORDS.has(name) && SECRET_FIELD.test(name) && isValue(value);
}
