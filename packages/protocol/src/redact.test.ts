/** What is left out of what is shown, and what is not. The secrets are put together here, so that no scanner takes them for real. */
import { describe, expect, test } from "vitest";
import { redact, redactJson } from "./redact.ts";

const letters = (length: number, from = "aB3dE7fGh1JkLm9NpQrS5tUvWx2Yz") =>
  Array.from({ length }, (_, i) => from[(i * 7 + 3) % from.length]).join("");
const hex = (length: number) => letters(length, "0123456789abcdef7e3d");
const upper = (length: number) => letters(length, "ABCDEFGHJKLMNPQRSTUVWXYZ234567");
const dash = "-".repeat(5);

/** Parts of a form that a scanner would know. */
const of = (...parts: readonly string[]) => parts.join("");

/** A text and the part of it that must not be shown. */
const SECRETS: readonly (readonly [kind: string, text: string, secret: string])[] = [
  [
    "a token of a space",
    "run with belay-token-1.eyJjZXJ0aWZpY2F0ZSI6eyJwdXJwb3NlIjoi here",
    "eyJjZXJ0aWZpY2F0ZSI6eyJwdXJwb3NlIjoi",
  ],
  ["AWS key id", `use ${of("AK", "IA")}${upper(16)} for the bucket`, upper(16)],
  ["AWS session key id", `${of("AS", "IA")}${upper(16)}`, upper(16)],
  ["AWS secret key", `aws_secret_access_key = ${letters(40)}`, letters(40)],
  [
    "AWS secret in the environment",
    `export AWS_SECRET_ACCESS_KEY=${letters(20)}/${letters(19)}`,
    letters(19),
  ],
  ["GitHub token", `git clone with ${of("gh", "p_")}${letters(36)}`, letters(36)],
  ["GitHub app token", `${of("gh", "s_")}${letters(36)}`, letters(36)],
  ["GitHub fine-grained", `${of("github", "_pat_")}${letters(22)}_${letters(59)}`, letters(59)],
  ["GitLab", `${of("gl", "pat-")}${letters(20)}`, letters(20)],
  ["Slack bot", `${of("xo", "xb-")}123456789012-1234567890123-${letters(24)}`, letters(24)],
  [
    "Slack hook",
    `https://hooks.slack${of(".com")}/services/T0${upper(8)}/B0${upper(8)}/${letters(24)}`,
    letters(24),
  ],
  ["Stripe live", `${of("sk", "_live_")}${letters(24)}`, letters(24)],
  ["Stripe restricted", `${of("rk", "_test_")}${letters(24)}`, letters(24)],
  ["Stripe hook", `${of("wh", "sec_")}${letters(32)}`, letters(32)],
  ["OpenAI", `the key is ${of("sk", "-")}${letters(48)}.`, letters(48)],
  ["OpenAI project", `${of("sk", "-proj-")}${letters(40)}-${letters(20)}`, letters(40)],
  ["Anthropic", `ANTHROPIC: ${of("sk", "-ant-api03-")}${letters(60)}`, letters(60)],
  ["OpenRouter", `${of("sk", "-or-v1-")}${hex(64)}`, hex(64)],
  ["Google API", `${of("AI", "za")}${letters(35)}`, letters(35)],
  ["Google OAuth", `${of("ya", "29.")}${letters(60)}`, letters(60)],
  ["Google client secret", `${of("GOC", "SPX-")}${letters(28)}`, letters(28)],
  ["npm", `//registry/:_authToken=${of("np", "m_")}${letters(36)}`, letters(36)],
  ["PyPI", `${of("py", "pi-AgEI")}cHlwaS5vcmc${letters(60)}`, letters(60)],
  ["Hugging Face", `${of("h", "f_")}${letters(34)}`, letters(34)],
  ["DigitalOcean", `${of("do", "p_v1_")}${hex(64)}`, hex(64)],
  ["SendGrid", `${of("S", "G.")}${letters(22)}.${letters(43)}`, letters(43)],
  ["Mailgun", `${of("ke", "y-")}${hex(32)}`, hex(32)],
  ["Twilio", `${of("S", "K")}${hex(32)}`, hex(32)],
  ["Telegram", `bot ${of("123456789", ":AA")}${letters(33)}`, letters(33)],
  ["Shopify", `${of("shp", "at_")}${hex(32)}`, hex(32)],
  ["Databricks", `${of("da", "pi")}${hex(32)}`, hex(32)],
  ["Vault", `${of("hv", "s.")}${letters(90)}`, letters(90)],
  ["Docker Hub", `${of("dckr", "_pat_")}${letters(27)}`, letters(27)],
  ["Linear", `${of("lin", "_api_")}${letters(40)}`, letters(40)],
  ["Groq", `${of("gs", "k_")}${letters(52)}`, letters(52)],
  ["age", `${of("AGE-SECRET", "-KEY-1")}${upper(58)}`, upper(58)],
  ["JWT", `${of("ey", "J")}hbGciOiJIUzI1NiJ9.${of("ey", "J")}zdWIiOiIxMjM0In0.${letters(43)}`, letters(43)],
  [
    "PEM",
    `${dash}BEGIN RSA PRIVATE KEY${dash}\n${letters(64)}\n${letters(64)}\n${dash}END RSA PRIVATE KEY${dash}`,
    letters(64),
  ],
  ["OpenSSH key, cut off", `${dash}BEGIN OPENSSH PRIVATE KEY${dash}\n${letters(64)}`, letters(64)],
  ["bearer header", `curl -H "Authorization: Bearer ${letters(30)}" x`, letters(30)],
  ["basic header", `Authorization: Basic dXNlcjpzZWNyZXQ=`, "dXNlcjpzZWNyZXQ"],
  ["token header", `-H 'Authorization: token ${hex(40)}'`, hex(40)],
  ["API key header", `-H "X-API-Key: ${hex(32)}"`, hex(32)],
  ["cookie", `-H "Cookie: sessionid=${letters(32)}; theme=dark"`, letters(32)],
  ["address with a password", `postgres://admin:tr0ub4dor@db.example.com:5432/app`, "tr0ub4dor"],
  ["address without a user", `redis://:opensesame@10.0.0.1:6379/0`, "opensesame"],
  ["address with a token", `https://${hex(40)}@git.example.com/a/b.git`, hex(40)],
  ["SAS address", `https://x.blob.example.net/c?sv=2024&sig=${letters(44)}%3D`, letters(44)],
  ["--password with a space", `mysqlsh --user root --password hunter2 --host db`, "hunter2"],
  ["--password with a word", `createuser --password swordfish alice`, "swordfish"],
  ["--token=", `deploy --token=${letters(20)} prod`, letters(20)],
  ["--api-key quoted", `tool --api-key "${letters(24)}"`, letters(24)],
  ["--client-secret", `az login --client-secret ${letters(30)}`, letters(30)],
  ["mysql -p", `mysql -u root -pS3cret! app`, "S3cret!"],
  ["sshpass -p", `sshpass -p 'open sesame' ssh host`, "open sesame"],
  ["docker login -p", `docker login -u me -p letmein registry`, "letmein"],
  ["redis-cli -a", `redis-cli -h x -a f00bared ping`, "f00bared"],
  ["curl -u", `curl -u admin:n0tsecret https://x`, "n0tsecret"],
  ["openssl pass:", `openssl rsa -in k -passin pass:Tr1ckster`, "Tr1ckster"],
  ["PASSWORD=", `DB_PASSWORD=correct-horse ./run`, "correct-horse"],
  ["JSON apiKey", `{"apiKey": "${letters(20)}", "model": "x"}`, letters(20)],
  ["JSON passphrase", `{"password": "open sesame"}`, "open sesame"],
  ["JSON password", `{"user":"a","dbPassword":"pa55word"}`, "pa55word"],
  ["YAML", `client_secret: ${letters(24)}`, letters(24)],
  ["connection string", `Server=db;User Id=sa;Password=Sup3rS3cret;Encrypt=yes`, "Sup3rS3cret"],
  ["storage account", `AccountName=x;AccountKey=${letters(60)}==;Suffix=y`, letters(60)],
  ["netrc", `machine api.example.com login me password w0rdpass`, "w0rdpass"],
  ["in a sentence", `my password is hunter2, log in with it`, "hunter2"],
  ["said of a token", `the token is ${hex(24)} and expires soon`, hex(24)],
  ["cut off", `use ${of("sk", "-ant-")}${letters(6)}…`, letters(6)],
  ["Slack app", `${of("xa", "pp-1-")}A0${upper(9)}-${hex(24)}`, hex(24)],
  ["npm", `publish it with ${of("np", "m_")}${letters(36)}`, letters(36)],
  ["RubyGems", `${of("ruby", "gems_")}${hex(48)}`, hex(48)],
  ["Discord bot", `${of("M", "T")}${letters(22)}.${letters(6)}.${letters(38)}`, letters(38)],
  ["Square", `${of("sq0", "atp-")}${letters(22)}`, letters(22)],
  ["Notion", `${of("nt", "n_")}${letters(46)}`, letters(46)],
  ["Figma", `${of("fi", "gd_")}${letters(40)}`, letters(40)],
  ["Netlify", `${of("nf", "p_")}${letters(40)}`, letters(40)],
  ["PlanetScale", `${of("psc", "ale_tkn_")}${letters(43)}`, letters(43)],
  ["Supabase", `${of("sb", "p_")}${hex(40)}`, hex(40)],
  ["Postman", `${of("PM", "AK-")}${hex(24)}-${hex(34)}`, hex(34)],
  ["New Relic", `${of("NR", "AK-")}${upper(27)}`, upper(27)],
  ["Grafana", `${of("gl", "sa_")}${letters(32)}_${hex(8)}`, letters(32)],
  ["Doppler", `${of("dp", ".pt.")}${letters(43)}`, letters(43)],
  ["Terraform Cloud", `${letters(14)}${of(".atlas", "v1.")}${letters(64)}`, letters(64)],
  ["Atlassian", `${of("ATA", "TT3")}xFfGF0${letters(60)}=${upper(8)}`, letters(60)],
  ["Airtable", `${of("pa", "t")}${letters(14)}.${hex(64)}`, hex(64)],
  ["Replicate", `${of("r", "8_")}${letters(37)}`, letters(37)],
  ["xAI", `${of("xa", "i-")}${letters(80)}`, letters(80)],
  ["Perplexity", `${of("pp", "lx-")}${letters(48)}`, letters(48)],
  ["Tailscale", `${of("ts", "key-auth-")}${letters(16)}-${letters(32)}`, letters(32)],
  ["bearer without its header", `call it as Bearer ${letters(30)}`, letters(30)],
  ["basic without its header", `send Basic ${letters(22)}==`, letters(22)],
  ["zip", `unzip -q -P ${letters(12)} backup.zip`, letters(12)],
  ["ldap", `ldapsearch -x -D cn=admin -w ${letters(12)} -b dc=x`, letters(12)],
  ["smbclient", `smbclient //host/share -U me%${letters(12)}`, letters(12)],
  ["openssl", "openssl rsa -in key.pem -passin pass:sword,fish;9", "fish;9"],
];

/** What must be shown as it is: 200 texts and more. */
const HARMLESS: readonly string[] = [
  ...Array.from({ length: 12 }, (_, i) => hex(40).slice(i) + hex(i)), // git ids
  ...Array.from({ length: 8 }, (_, i) => hex(64).slice(i) + hex(i)), // SHA-256
  ...Array.from({ length: 8 }, (_, i) => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(11)}${i}`), // UUIDs
  ...Array.from({ length: 6 }, (_, i) => `commit ${hex(40)} touched ${i} files`),
  ...Array.from({ length: 6 }, (_, i) => `sha256:${hex(64).slice(i)}${hex(i)}`),
  ...Array.from({ length: 4 }, (_, i) => `data:image/png;base64,${letters(200 + i)}`),
  ...Array.from({ length: 4 }, (_, i) => `sha512-${letters(86 - i)}==`),
  ...["main", "fix/token-refresh", "feature/password-reset", "release-1.2.3"].map((b) => `branch ${b}`),
  "kqzvnwxyrtsmplou",
  "Before user message: fix the login form",
  "Before Bash: npm test",
  "After Edit",
  "Restored to checkpoint 12 (Before Bash: git status)",
  "Undid: rename the password field",
  "How do I reset my password?",
  "The password must have at least eight characters.",
  "password reset flow",
  "Passwords are hashed with bcrypt.",
  "Ask for the password again.",
  "the password: a short story",
  "Fix the token: it expires too soon",
  "Token: see the documentation",
  "secret: unknown to all",
  "a well-kept secret",
  "the secret is out",
  "the password is wrong",
  "the token is missing from the header",
  "the api key is required",
  "my password is too short",
  "Rotate the API key every month.",
  "Add an access key to the settings page",
  "Store credentials in the keychain",
  "credentials: include",
  "tokens: 1500",
  "max_tokens=4096",
  "maxTokens: 4096",
  "token_count: 12",
  "total tokens = 12345",
  "tokenizer: bert-base-uncased",
  "tokenize the input first",
  "secretary: Jane",
  "passenger: 12",
  "passed: 120, failed: 3",
  "bypass: yes",
  "compass: north-2",
  "keyboard: us-intl",
  "primary_key: id",
  "foreign key (user_id) references users",
  "sort key: name2",
  "key: value1",
  "press any key to continue",
  "monkey=3",
  "public_key: missing",
  "password: string",
  "password?: string | undefined",
  "token: string;",
  "token: Token | null",
  "secret: null",
  "password: true",
  "apiKey: undefined",
  "const token = getToken();",
  "const token = await fetchToken(user);",
  "token = os.environ['TOKEN']",
  "password = process.env.DB_PASSWORD",
  "password=$DB_PASSWORD",
  "PASSWORD=${PASSWORD}",
  "--password $PASSWORD",
  "--password ${DB_PASSWORD}",
  "--password <password>",
  "--token TOKEN",
  "--password PASSWORD",
  "TOKEN=<your token>",
  "API_KEY=your-api-key",
  "API_KEY=xxx",
  "password=***",
  "token=[redacted]",
  "--password [redacted]",
  "use the --password option",
  "use --password or --password-stdin",
  "the --token flag is gone",
  "--token and --user must be given together",
  "--password is not needed",
  "rename --secret to --shared-secret",
  "with --no-password",
  "--password-file /run/secrets/db",
  "--passphrase-fd 0",
  "PASSWORD_FILE=/run/secrets/password",
  "secret=/run/secrets/db",
  "token: /var/run/token",
  "PWD=/srv/app/project",
  "OLDPWD=/tmp",
  "pwd: /srv/main",
  "password_field=new PasswordField()",
  "password.length > 8",
  "user.password === other.password",
  "if (token == null) return;",
  "type: password",
  '<input type="password">',
  '"password": "Password"',
  '"password": "Enter your password"',
  '"token": "Token"',
  "label: 'Your secret'",
  "ssh -p 2222 host",
  "mkdir -p src/token/refresh",
  "docker run -p 8080:80 nginx",
  "cp -p a b",
  "git log -p",
  "git add -p src",
  "npx -p typescript tsc",
  "nc -l -p 8080",
  "ps -p 1234",
  "tar -xzf a.tgz -C out",
  "curl -u admin https://x",
  "curl https://example.com/a?page=2",
  "grep -w password src",
  "zip -r out.zip src",
  "unzip a.zip -d out",
  "mysql -u root -p app",
  "psql -U postgres -d app",
  "redis-cli -h localhost -p 6379 ping",
  "http://localhost:3000/login",
  "https://example.com/reset-password/form",
  "https://user@example.com/repo.git",
  "git@github.com:owner/repo.git",
  "ssh://git@example.com:22/a/b",
  "file:///srv/app/a.txt",
  "postgres://localhost:5432/app",
  "http://[::1]:8080/",
  "user:group 1000:1000",
  "chown user:group file",
  "12:34:56",
  "2026-11-17T02:32:09.000Z",
  "a: b: c",
  "x = y = z",
  "Basic authentication is deprecated",
  "Basic Understanding of things",
  "Bearer tokens are sent in a header",
  "bearer of bad news",
  "Authorization is checked first",
  "authorization: see RFC 9110".replace("see RFC 9110", ""),
  "author: Jane Doe",
  "cookie banner",
  "Cookie settings",
  "Cookies: accept all",
  "sk-learn",
  "scikit-learn and sk-image",
  "pk_customer_order_line_items",
  "rk_settings_table_name_long",
  "gh pr create --fill",
  "npm_config_registry",
  "npm_lifecycle_event",
  "hf_hub_download",
  "xoxo, gossip",
  "glide-in-motion",
  "eyJust a word",
  "eyJ.",
  "SG.1",
  "AKIA",
  "the AIza prefix",
  "ghp_ is a prefix",
  "r8_norm",
  "key-value store",
  "key-board",
  "patience.",
  "M.B.A.",
  "src/auth/token.ts",
  "packages/server/src/password-reset.test.ts",
  "test/secrets/fixtures/a.json",
  ".env.example",
  "id_rsa.pub",
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 user@host",
  "-----BEGIN CERTIFICATE-----",
  "-----BEGIN PUBLIC KEY-----",
  "$2b$12$ is the prefix of bcrypt",
  "pass: 12 tests",
  "All tests pass: good",
  "pass through",
  "pass the salt",
  "passthrough=1",
  "auth: basic",
  "auth=none",
  "oauth2 flow",
  "session_1",
  "secret santa",
  "The key is to be patient",
  "the key is under the mat",
  "token ring network",
  "token-based auth",
  "JWT tokens",
  "CSRF token check",
  "access token lifetime",
  "refresh token rotation",
  "environment variables DB_PASSWORD and API_KEY",
  "set API_KEY before you start",
  "echo $TOKEN",
  "unset PASSWORD",
  "rm -rf node_modules",
  "npm run build && npm test",
  "sed -i s/password/passphrase/ README.md",
  "SELECT password FROM users",
  "ALTER TABLE users ADD COLUMN password TEXT",
  "grep -rn 'token' src | head -5",
  "Add tests for the token parser (3 of 12)",
  "日本語のパスワード",
  "Passwort vergessen?",
  "🔑 key emoji",
  "",
  "x",
];

describe("redact", () => {
  test.each(SECRETS)("[R167] %s", (_kind, text, secret) => {
    const shown = redact(text);
    expect(shown).toContain("[redacted]");
    expect(shown).not.toContain(secret);
    expect(redact(shown)).toBe(shown);
    // inside of more text, and after a line end
    expect(redact(`Please do this:\n${text}\nand then stop`)).not.toContain(secret);
    expect(redactJson({ messages: [{ content: text }] }).messages[0]!.content).not.toContain(secret);
  });

  test("[R167] there are at least 60 of the one and 200 of the other", () => {
    expect(SECRETS.length).toBeGreaterThanOrEqual(60);
    expect(HARMLESS.length).toBeGreaterThanOrEqual(200);
  });

  test("[R167] harmless texts stay as they are", () => {
    expect(HARMLESS.filter((text) => redact(text) !== text)).toEqual([]);
    expect(HARMLESS.filter((text) => redact(`first ${text}`) !== `first ${text}`)).toEqual([]);
  });

  test("[R167] what surrounds a secret stays", () => {
    expect(redact("mysql --host db --password hunter2 app")).toBe(
      "mysql --host db --password [redacted] app",
    );
    expect(redact("postgres://me:pa55@db/app")).toBe("postgres://me:[redacted]@db/app");
    expect(redact('{"apiKey": "abc123def", "n": 1}')).toBe('{"apiKey": "[redacted]", "n": 1}');
    expect(redact("A=1 TOKEN=abc123 B=2")).toBe("A=1 TOKEN=[redacted] B=2");
  });

  test("[R167] in JSON: diffs, contents of files, paths and ids are not words", () => {
    const line = "+PASSWORD=hunter2\n";
    const value = {
      files: [
        { path: "a/token=abc123", diff: line },
        { path: "b", content: line, encoding: "utf-8" },
      ],
      token: "the server's own",
      message: { content: line, artifacts: [{ apiKey: "abc", nested: { dbPassword: "x1y2z3" } }] },
    };
    expect(redactJson(value)).toEqual({
      ...value,
      message: {
        content: "+PASSWORD=[redacted]\n",
        artifacts: [{ apiKey: "[redacted]", nested: { dbPassword: "[redacted]" } }],
      },
    });
  });

  test("[R167] time grows with the text, whatever it is", () => {
    for (const piece of [
      "a",
      "a:",
      "password ",
      "-p ",
      "://",
      "eyJ",
      "sk-a-",
      "mysql ",
      "= ",
      '"',
      "-----BEGIN ",
    ]) {
      const small = measure(piece.repeat(20_000 / piece.length));
      const large = measure(piece.repeat(160_000 / piece.length));
      // eight times the text: far from the 64 times of a pattern that looks back and forth
      expect([piece, large < 24 * small + 100]).toEqual([piece, true]);
    }
  });
});

function measure(text: string): number {
  const started = performance.now();
  redact(text);
  return performance.now() - started;
}
