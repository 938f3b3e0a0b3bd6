import { addresseeIn } from '../../protocol/read-invocation.js';
import { REDACTED } from '../../text/redact.js';
import type { CallEvidence } from './evidence.js';
import { saidBy } from './said.js';

/** Characters of a text that are looked into for what only looks like a credential. */
const LOOKED_AT = 256 * 1024;
/** Shorter ones may be words. */
const SHORTEST = 16;

/** Credentials that can be told by their looks. */
const SHAPES: readonly (readonly [what: string, shape: RegExp])[] = [
  ['a private key', /-----BEGIN (?:[A-Z]{2,10} ){0,3}PRIVATE KEY-----/],
  ['a bearer token', /\bBearer [\w.~+/-]{20,2000}/],
  ['a GitHub token (gh?_…)', /\bgh[pousr]_[A-Za-z0-9]{36,255}\b/],
  ['a GitHub token (github_pat_…)', /\bgithub_pat_\w{40,255}\b/],
  ['an API key (sk-…)', /\bsk-(?:[a-z]{2,12}-){0,2}[A-Za-z0-9_]{20,200}/],
  ['an AWS access key (AKIA…)', /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/],
  ['a Slack token (xox?-…)', /\bxox[abprs]-[A-Za-z0-9-]{20,200}/],
  ['a Google API key (AIza…)', /\bAIza[\w-]{35}\b/],
  ['a JSON Web Token', /\beyJ[\w-]{10,500}\.eyJ[\w-]{10,1000}\.[\w-]{10,500}/],
];

/** A secret that a call was given, and what it is. */
interface Given {
  readonly what: string;
  readonly secret: string;
}

/** What was found, and where: the first character, and the one after the last. */
export interface FoundSecret {
  readonly what: string;
  readonly range: readonly [from: number, to: number];
}

/** Looks for the secrets of one call, and for whatever looks like one, in a text; tells what and where it is, never the secret. */
export function secretFinder(call: CallEvidence): (text: string) => FoundSecret | null {
  const given = [...ofCallbackUrl(call), ...ofHeaders(call)];
  const said = saidBy(call);
  return text => {
    const known = given.find(({ secret }) => text.includes(secret) && !isSaid(said, secret));
    if (known) return foundAt(known.what, known.secret, text.indexOf(known.secret));
    const beginning = text.slice(0, LOOKED_AT);
    const [found] = SHAPES.flatMap(([what, shape]) => shapeIn(beginning, what, shape, said) ?? []);
    return found ?? null;
  };
}

function shapeIn(text: string, what: string, shape: RegExp, said: readonly string[]): FoundSecret | null {
  const found = shape.exec(text);
  return found && !isSaid(said, found[0]) ? foundAt(what, found[0], found.index) : null;
}

function foundAt(what: string, secret: string, at: number): FoundSecret {
  return { what, range: [at, at + secret.length] };
}

/** What the caller said itself is no news to it. */
function isSaid(said: readonly string[], secret: string): boolean {
  return said.some(text => text.includes(secret));
}

/** Its long words: short ones are names of paths. */
function ofCallbackUrl({ reading }: CallEvidence): readonly Given[] {
  const addressee = addresseeIn(reading);
  if (!addressee) return [];
  const { callback_url: url, id, group_id, call_id } = addressee;
  const words = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[/?#&=]/);
  const tokens = words.filter(word => word.length >= SHORTEST && ![id, group_id, call_id].includes(word));
  return [
    { what: 'the callback URL', secret: url },
    ...tokens.map(secret => ({ what: "the callback URL's token", secret })),
  ];
}

const SECRET_HEADER = /auth|cookie|credential|key|secret|session|signature|token/i;

/** Of a header with such a name, the value without its scheme. */
function ofHeaders({ attempts }: CallEvidence): readonly Given[] {
  const headers = attempts.flatMap(({ request }) => Object.entries(request.headers));
  return headers
    .filter(([name, value]) => SECRET_HEADER.test(name) && value !== REDACTED)
    .map(([name, value]) => ({ what: `the value of the header ${name}`, secret: value.replace(/^\w+ /, '') }))
    .filter(({ secret }) => secret.length >= SHORTEST);
}
