/** How much of a text is searched, in characters. */
export const MAX_SEARCHED = 256 * 1024;

/** Passwords of examples, such as `user:password@host` and `user:***@host`. */
const EXAMPLE_PASSWORDS = [
  'pass(?:word|wd)?|PASS(?:WORD|WD)?',
  'pwd|PWD',
  'secret|SECRET',
  'x{1,20}',
  '[*.]{1,20}',
  '[<[{$%][^@\\s]{0,40}', // a placeholder
].join('|');

const URL_WITH_PASSWORD = new RegExp(
  [
    String.raw`\b[a-z][a-z\d+.-]{1,20}://`,
    String.raw`[^\s:@/?#]{0,100}:`, // user
    String.raw`(?!(?:${EXAMPLE_PASSWORDS})@)[^\s:@/?#]{1,200}@`, // password
    String.raw`[\w.-]{1,255}`, // host
  ].join(''),
  'g',
);

const SHAPES: readonly (readonly [what: string, shape: RegExp])[] = [
  [
    'a private key',
    /-----BEGIN (?:[A-Z]{2,10} ){0,3}PRIVATE KEY-----(?:[\s\S]{0,10000}?-----END|[\s\S]{0,10000})/g,
  ],
  ['a bearer token', /\bBearer [\w.~+/-]{20,2000}/g],
  ['a GitHub token (gh?_…)', /\bgh[pousr]_[A-Za-z0-9]{36,255}\b/g],
  ['a GitHub token (github_pat_…)', /\bgithub_pat_\w{40,255}\b/g],
  ['an API key (sk-…)', /\bsk-(?:[a-z]{2,12}-){0,2}[A-Za-z0-9_]{20,200}/g],
  ['an AWS access key (AKIA…)', /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/g],
  ['a Slack token (xox?-…)', /\bxox[abprs]-[A-Za-z0-9-]{20,200}/g],
  ['a Google API key (AIza…)', /\bAIza[\w-]{35}\b/g],
  ['a URL with a password', URL_WITH_PASSWORD],
  ['a JSON Web Token', /\beyJ[\w-]{10,500}\.eyJ[\w-]{10,1000}\.[\w-]{10,500}/g],
];

/** Field names of login results, whose values are secret. */
const NAMED =
  /\b(?:access_token|refresh_token|id_token|client_secret)\b["']?\s{0,5}[:=]\s{0,5}["']?([\w.~+/-]{8,2000})|[?&]code=([\w.~-]{6,2000})/g;

interface Credential {
  readonly what: string;
  readonly text: string;
  readonly at: number;
}

export function credentialsIn(text: string): readonly Credential[] {
  const beginning = text.slice(0, MAX_SEARCHED);
  return SHAPES.flatMap(([what, shape]) =>
    [...beginning.matchAll(shape)].map(({ 0: found, index: at }) => ({ what, text: found, at })),
  );
}

/** Finds the values of login tokens, codes and secrets in a text. */
export function namedCredentialsIn(text: string): readonly string[] {
  const found = text.slice(0, MAX_SEARCHED).matchAll(NAMED);
  return [...found].flatMap(([, token, code]) => token ?? code ?? []);
}

/** Names of headers that carry credentials; an `Idempotency-Key` is not secret. */
const CREDENTIAL_HEADER =
  /auth|cookie|credential|(?<!idempotency-)key|password|secret|session|signature|token/i;

export function isCredentialHeader(name: string): boolean {
  return CREDENTIAL_HEADER.test(name);
}

const PAIR = /([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"([^"]*)"|([^;,\s"]*))/g;
/** Cookie and digest attributes whose values are public. */
const PUBLIC_ATTRIBUTES =
  /^(?:path|domain|expires|max-age|samesite|priority|version|realm|qop|nc|algorithm|uri|charset|userhash)$/i;
/** Minimum length of a secret: shorter values may be words, such as `theme=dark`. */
const MIN_VALUE_LENGTH = 8;

/** The unquoted values of `name=value` pairs, as in cookies and `Digest`. */
function valuesOfPairs(text: string): string[] {
  const pairs = [...text.matchAll(PAIR)].filter(([, name = '']) => !PUBLIC_ATTRIBUTES.test(name));
  return pairs
    .map(([, , quoted, bare = '']) => quoted ?? bare)
    .filter(each => each.length >= MIN_VALUE_LENGTH);
}

/** The secrets in headers: each value, and its parts (`Bearer …`, `Basic …` also decoded, cookies). */
export function secretsOfHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (/cookie/i.test(name) || /^digest\s/i.test(value)) return [value, ...valuesOfPairs(value)];
    const [scheme = '', ...rest] = value.split(/\s+/);
    const decoded = /^basic$/i.test(scheme) ? Buffer.from(rest.join(''), 'base64').toString('utf8') : '';
    return [value, ...rest, decoded, decoded.slice(decoded.indexOf(':') + 1)];
  });
}
