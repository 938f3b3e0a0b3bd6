import { ProtocolCliError } from '../../errors.js';
import { warningText } from '../../reporters/trouble.js';
import { readHeaders } from '../headers.js';
import { type Gathered, gatherArguments } from '../invoke/arguments.js';
import { loadPolicy } from '../invoke/consent.js';
import { type InvokeOptions, listenerOf, noOperation } from '../invoke/plan.js';
import { readRapConfig } from '../rap-config.js';
import { type ConfiguredTarget, readTarget } from '../target.js';
import type { Terminal } from '../terminal.js';
import type { Manners } from './manners.js';

/** What a workbench opens with. */
export interface WorkbenchPlan {
  readonly options: Pick<InvokeOptions, 'supports' | 'color' | 'save' | 'watch' | 'open'>;
  readonly manners: Manners;
  /** For the target, and no other server. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null: those that are configured are offered. */
  readonly target: ConfiguredTarget | null;
  readonly configured: readonly ConfiguredTarget[];
  readonly operation: string | undefined;
  /** Undefined where none was given: the form has its defaults. */
  readonly arguments: Gathered | undefined;
}

/** @throws ProtocolCliError `usage`, or `unreadable-file` for what the words or options name. */
export async function planWorkbench(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<WorkbenchPlan> {
  const { target, rest } = readTarget(words, options);
  const [operation, ...given] = rest;
  if (operation === '' || operation?.includes('=')) throw noOperation(operation);
  if (target?.kind === 'endpoint') throw new Error('--endpoint is refused before');
  const headers = readHeaders(options, terminal.env);
  if (target === null && Object.keys(headers).length > 0) throw headersForNobody();
  return {
    options,
    manners: await mannersOf(options, terminal),
    headers,
    target,
    configured: target ? [] : await configuredIn(terminal),
    operation,
    arguments: await givenArguments(given, options.args),
  };
}

async function givenArguments(words: readonly string[], whole?: string): Promise<Gathered | undefined> {
  if (words.length === 0 && whole === undefined) return undefined;
  return gatherArguments({ words, ...(whole !== undefined && { whole }) }, keyboard());
}

async function mannersOf(options: InvokeOptions, terminal: Terminal): Promise<Manners> {
  const { timeout: timeoutMs, retries, lenientAck = false, yes = false, policy: file } = options;
  const { groupId = null, userId = null, ancestor: ancestors = [] } = options;
  const policy = file === undefined ? null : await loadPolicy(file, terminal);
  const consent = { policy, yes };
  return {
    ...{ timeoutMs, retries, lenientAck, consent, groupId, userId, ancestors },
    listener: listenerOf(options),
  };
}

/** That there are none is no fault: a server can be opened by hand. */
async function configuredIn(terminal: Terminal): Promise<readonly ConfiguredTarget[]> {
  try {
    const { targets, warnings } = await readRapConfig(terminal);
    for (const warning of warnings) terminal.stderr.write(warningText(warning));
    return targets;
  } catch (error) {
    if (error instanceof ProtocolCliError && error.code === 'usage') return [];
    throw error;
  }
}

/** Whoever draws on the terminal needs its keys. */
// biome-ignore lint/correctness/useYield: it has nothing to give
async function* keyboard(): AsyncGenerator<Uint8Array> {
  throw new Error('standard input is the keyboard here');
}

function headersForNobody(): ProtocolCliError {
  return new ProtocolCliError('usage', '-H and --bearer are for one server, and none is named', {
    hint: 'Give its URL: protocol-cli invoke -i <url> --bearer <token>.',
  });
}
