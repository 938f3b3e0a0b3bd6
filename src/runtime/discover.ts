import { ProtocolCliError } from '../errors.js';
import { Content } from '../exchange/content.js';
import { discoveryCandidates } from '../protocol/addresses.js';
import { readToolset } from '../protocol/read-toolset.js';
import type { Toolset } from '../protocol/toolset.js';
import { visibleLine } from '../text/visible.js';
import { recordedSend, type Wire } from './wire.js';

const MAX_TOOLSET = 10 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** A toolset, and the base URL at which it was found. */
export interface Discovered {
  readonly base: string;
  readonly toolset: Toolset;
  readonly notes: readonly string[];
}

/**
 * Asks `{url}/.well-known/rap-toolset`, then the origin's.
 * @throws ProtocolCliError `unreachable`, `no-discovery` or `invalid-toolset`, each with what was asked.
 */
export async function discover(wire: Wire, url: string): Promise<Discovered> {
  const asked: string[] = [];
  for (const candidate of discoveryCandidates(url)) {
    const answer = await ask(wire, candidate.url);
    if (answer.status === 200) return load(wire, candidate, new Content(answer.body));
    asked.push(`${candidate.url} answered ${answer.status}`);
  }
  throw new ProtocolCliError('no-discovery', `no discovery document: ${asked.join(', ')}`, {
    hint: 'Give the base URL of the tool server. If this is the invocation endpoint itself, add --endpoint.',
  });
}

function ask(wire: Wire, url: string) {
  return recordedSend(
    wire,
    { purpose: 'discovery', attempt: 1 },
    {
      method: 'GET',
      url,
      headers: { accept: 'application/json' },
      read: { maxBytes: MAX_TOOLSET },
      timeoutMs: TIMEOUT_MS,
    },
  );
}

async function load(
  { log }: Wire,
  { base, url }: { base: string; url: string },
  body: Content,
): Promise<Discovered> {
  const reading = await readToolset(body.json);
  if (!reading.ok)
    throw new ProtocolCliError('invalid-toolset', `the toolset at ${url} is not valid`, {
      faults: reading.faults.map(visibleLine),
      hint: 'One invalid tool makes the whole toolset unusable (RT-TOOLSET): mend these and call again.',
    });
  const { toolset, notes } = reading;
  const operations = toolset.tools.map(tool => tool.name);
  log.emit({ kind: 'loaded', base, endpoint: toolset.endpoint, toolset: toolset.name, operations });
  return { base, toolset, notes };
}
