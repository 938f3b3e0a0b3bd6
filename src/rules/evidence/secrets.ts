import { addresseeIn } from '../../protocol/read-invocation.js';
import { credentialsIn, isCredentialHeader } from '../../text/credentials.js';
import { REDACTED } from '../../text/redact.js';
import type { CallEvidence } from './evidence.js';
import { saidBy } from './said.js';

/** Shorter ones may be words. */
const SHORTEST = 16;

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
    const leaked = credentialsIn(text).find(found => !isSaid(said, found.text));
    return leaked ? foundAt(leaked.what, leaked.text, leaked.at) : null;
  };
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

/** Of a header with such a name, the value without its scheme. */
function ofHeaders({ attempts }: CallEvidence): readonly Given[] {
  const headers = attempts.flatMap(({ request }) => Object.entries(request.headers));
  return headers
    .filter(([name, value]) => isCredentialHeader(name) && value !== REDACTED)
    .map(([name, value]) => ({ what: `the value of the header ${name}`, secret: value.replace(/^\w+ /, '') }))
    .filter(({ secret }) => secret.length >= SHORTEST);
}
