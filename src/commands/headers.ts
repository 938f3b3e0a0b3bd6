import { ProtocolCliError } from '../errors.js';
import type { Credentials } from '../runtime/wire.js';
import { valuesOfPairs } from '../text/credentials.js';

export interface HeaderOptions {
  readonly header?: readonly string[];
  readonly bearer?: string;
}

/** The connection's own headers, which are not a user's to set. */
const RESERVED = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'content-type',
  'content-encoding',
  'accept-encoding',
]);

/** What the options are called: they may be for one server of several. */
interface Names {
  readonly header: string;
  readonly bearer: string;
}

const NAMES: Names = { header: '-H', bearer: '--bearer' };

/**
 * The headers a user gave, by lower-case name.
 * @throws ProtocolCliError `usage`.
 */
export function readHeaders(
  { header = [], bearer }: HeaderOptions,
  env: Environment,
  names = NAMES,
): Record<string, string> {
  const headers = Object.fromEntries(header.map(text => parseHeader(text, names.header)));
  if (bearer === undefined) return headers;
  return { ...headers, authorization: `Bearer ${bearerToken(bearer, env, names.bearer)}` };
}

/** The same for the origin of `url`, and only for it (threats, row 12). */
export function readCredentials(options: HeaderOptions, url: string, env: Environment): Credentials {
  return { origin: new URL(url).origin, headers: readHeaders(options, env) };
}

type Environment = Readonly<Record<string, string | undefined>>;

function parseHeader(text: string, option: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*([\t\x20-\x7e\x80-\xff]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new ProtocolCliError(
      'usage',
      `a ${option === NAMES.header ? '--header' : option} is not of the form "Name: value"`,
      {
        hint: `For example: ${option} 'X-Api-Key: 123'`,
      },
    );
  if (RESERVED.has(name.toLowerCase()))
    throw new ProtocolCliError('usage', `the header ${name} belongs to the connection and cannot be set`);
  return [name.toLowerCase(), value.trim()];
}

function bearerToken(bearer: string, env: Environment, option: string): string {
  if (!bearer.startsWith('env:')) return bearer;
  const name = bearer.slice('env:'.length);
  const token = env[name];
  if (token) return token;
  throw new ProtocolCliError('usage', `${option}: the environment has no ${name}`);
}

/** What must never be written down: each value, and what there is in it. */
export function secretsOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => [
    value,
    ...(/cookie/i.test(name) || /^digest\s/i.test(value) ? valuesOfPairs(value) : wordsIn(value)),
  ]);
}

/** What follows its scheme: `Bearer …`, `Basic …` also decoded. */
function wordsIn(value: string): string[] {
  const [scheme = '', ...rest] = value.split(/\s+/);
  const decoded = /^basic$/i.test(scheme) ? Buffer.from(rest.join(''), 'base64').toString('utf8') : '';
  return [...rest, decoded, decoded.slice(decoded.indexOf(':') + 1)];
}
