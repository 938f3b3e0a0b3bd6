import { type Environment, isHeader, reservedHeader, valueOrVariable } from '../util/headers.js';
import { usageError } from './options.js';

export interface HeaderOptions {
  readonly header?: readonly string[];
  readonly bearer?: string;
}

/**
 * Returns the headers of the options, by lower-case name.
 * @param names of the options
 * @throws ProtocolCliError `usage`.
 */
export function readHeaders(
  { header = [], bearer }: HeaderOptions,
  env: Environment,
  names = { header: '--header', bearer: '--bearer' },
): Record<string, string> {
  const headers = Object.fromEntries(header.map(text => parseHeader(text, env, names.header)));
  if (bearer === undefined) return headers;
  const token = fromEnvironment(bearer, env, names.bearer);
  if (token.trim() === '')
    throw usageError(`${names.bearer}: the token is empty`, 'Is the variable set that it comes from?');
  const authorization = `Bearer ${token}`;
  if (isHeader('authorization', authorization)) return { ...headers, authorization };
  throw usageError(
    `${names.bearer}: the token contains characters that headers cannot have, such as a line break`,
    'A token that was read from a file may end with a line break.',
  );
}

function parseHeader(text: string, env: Environment, option: string): [string, string] {
  const [, name, value = ''] = /^([^:]*):\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined)
    throw usageError(`${option}: expected "Name: value"`, `For example: ${option} 'X-Api-Key: 123'`);
  if (!isHeader(name, ''))
    throw usageError(
      `${option}: the name before the colon is not valid`,
      `For example: ${option} 'X-Api-Key: 123'`,
    );
  if (!isHeader(name, value))
    throw usageError(
      `${option}: the value contains characters that headers cannot have, such as a line break`,
    );
  const reserved = reservedHeader(name);
  if (reserved !== null) throw usageError(reserved);
  const given = fromEnvironment(value.trim(), env, option);
  if (isHeader(name, given)) return [name.toLowerCase(), given];
  throw usageError(`${option}: ${value.trim()} contains characters that headers cannot have`);
}

/** Returns the value, or for `env:NAME` that of the variable. @throws ProtocolCliError `usage` */
export function fromEnvironment(given: string, env: Environment, option: string): string {
  const found = valueOrVariable(given, env);
  if ('missing' in found) throw usageError(`${option}: ${found.missing}`);
  return found.value;
}
