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
  const headers = Object.fromEntries(header.map(text => parseHeader(text, env, names.header)));
  if (bearer === undefined) return headers;
  return { ...headers, authorization: `Bearer ${fromEnvironment(bearer, env, names.bearer)}` };
}

/** The same for the origin of `url`, and only for it (threats, row 12). */
export function readCredentials(options: HeaderOptions, url: string, env: Environment): Credentials {
  return { origin: new URL(url).origin, headers: readHeaders(options, env) };
}

type Environment = Readonly<Record<string, string | undefined>>;

function parseHeader(text: string, env: Environment, option: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined || !HEADER_VALUE.test(value))
    throw new ProtocolCliError(
      'usage',
      `a ${option === NAMES.header ? '--header' : option} is not of the form "Name: value"`,
      {
        hint: `For example: ${option} 'X-Api-Key: 123'`,
      },
    );
  if (RESERVED.has(name.toLowerCase()))
    throw new ProtocolCliError('usage', `the header ${name} belongs to the connection and cannot be set`);
  const given = fromEnvironment(value.trim(), env, option);
  if (!HEADER_VALUE.test(given))
    throw new ProtocolCliError(
      'usage',
      `${option}: ${value.trim()} has characters that a header cannot have`,
    );
  return [name.toLowerCase(), given];
}

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A value as it is, or after `env:` that of a variable: it stands in no process list then. */
function fromEnvironment(given: string, env: Environment, option: string): string {
  if (!given.startsWith('env:')) return given;
  const name = given.slice('env:'.length);
  const value = env[name];
  if (value) return value;
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
