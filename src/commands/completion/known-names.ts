import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { Tool } from '../../protocol/toolset.js';
import { LIMITS } from '../../util/limits.js';
import type { ConfiguredTarget } from '../target.js';
import type { Terminal } from '../terminal.js';
import { UserFile } from '../user-file.js';

/**
 * The names that servers have offered, kept in a file that only its user may read: completion must not wait for a server. It has no
 * values, no paths of URLs and no commands.
 */
const savedSchema = z.array(z.tuple([z.string(), z.array(z.tuple([z.string(), z.array(z.string())]))]));

/** Operations, each with the names of its arguments. */
export type Operations = readonly (readonly [operation: string, args: readonly string[]])[];

const MAX_SERVERS = 20;

/** 20 servers, each with as many names as are kept. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Neither an option nor a character that a shell would interpret. */
const NAME = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.:/-]{0,63}$/u;

const fileOf = (terminal: Pick<Terminal, 'env' | 'home'>) =>
  new UserFile('XDG_CACHE_HOME', 'operations.json', terminal);

/** Names a server: its origin, `--demo`, or a digest of its command. */
export function serverKey(target: ConfiguredTarget): string {
  switch (target.kind) {
    case 'demo':
      return '--demo';
    case 'mcp':
      return `mcp ${digest(target.server.name)}`;
    case 'url':
      return new URL(target.url).origin;
    case 'command':
      return target.url === undefined ? `command ${digest(target.command)}` : new URL(target.url).origin;
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** The servers by their keys, the one that changed last first. Empty if nothing is saved. */
export async function readNames(
  terminal: Pick<Terminal, 'env' | 'home'>,
): Promise<ReadonlyMap<string, Operations>> {
  const saved = savedSchema.safeParse(await fileOf(terminal).read(MAX_BYTES));
  return new Map(saved.success ? saved.data : []);
}

/**
 * Adds toolsets, unless all of them are saved already.
 * @param isSecret whether a name contains a credential, which a server may repeat (threats, row 25)
 * @throws if the file cannot be written
 */
export async function saveNames(
  toolsets: ReadonlyMap<ConfiguredTarget, readonly Tool[]>,
  terminal: Pick<Terminal, 'env' | 'home'>,
  isSecret: (text: string) => boolean,
): Promise<void> {
  const isKept = (name: string) => NAME.test(name) && !isSecret(name);
  const found = [...toolsets].map(([target, tools]) => [serverKey(target), namesIn(tools, isKept)] as const);
  const known = await readNames(terminal);
  if (found.every(([key, names]) => JSON.stringify(known.get(key)) === JSON.stringify(names))) return;
  const others = [...known].filter(([key]) => !found.some(([own]) => own === key));
  await fileOf(terminal).write([...found, ...others].slice(0, MAX_SERVERS));
}

/** The first names of a toolset. */
function namesIn(tools: readonly Tool[], isKept: (name: string) => boolean): Operations {
  let left = LIMITS.keptNames.value;
  return tools
    .filter(({ name }) => isKept(name))
    .flatMap(({ name, inputSchema }) => {
      if (left === 0) return [];
      const { properties } = inputSchema;
      const all = properties !== null && typeof properties === 'object' ? Object.keys(properties) : [];
      const args = all.filter(isKept).slice(0, left - 1);
      left -= 1 + args.length;
      return [[name, args] as const];
    });
}
