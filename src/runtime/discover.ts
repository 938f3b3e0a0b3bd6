import { Content } from '../events/content.js';
import { readToolset } from '../protocol/read-toolset.js';
import { discoveryCandidates, displayScriptsOf, type Toolset } from '../protocol/toolset.js';
import { ProtocolCliError } from '../util/errors.js';
import { visibleLine } from '../util/visible.js';
import { recordedSend, type Wire } from './notices.js';

const REQUEST = {
  method: 'GET',
  headers: { accept: 'application/json' },
  read: { maxBytes: 10 * 1024 * 1024 },
  timeoutMs: 10_000,
} as const;

/** A toolset, and the base URL at which it was found. */
export interface Discovered {
  readonly base: string;
  readonly toolset: Toolset;
  readonly notes: readonly string[];
}

/** What to do without a document. */
export interface DiscoveryHints {
  /** The server wants credentials. */
  readonly locked: string;
  readonly missing: string;
}

export const DISCOVERY_HINTS: DiscoveryHints = {
  locked: 'Give a token with --bearer <token | env:NAME>, or a header with -H.',
  missing: 'Give the base URL of the tool server: its endpoint alone does not say which tools there are.',
};

/** A discovery document, valid or not. */
interface DiscoveryDocument {
  readonly base: string;
  readonly url: string;
  readonly body: Content;
}

/**
 * Requests `{url}/.well-known/rap-toolset`, then the origin's, and loads the toolset.
 * @throws ProtocolCliError `unreachable`, `no-discovery` or `invalid-toolset`.
 */
export async function discover(wire: Wire, url: string, hints = DISCOVERY_HINTS): Promise<Discovered> {
  const document = await findDocument(wire, url, hints);
  const reading = await readToolset(document.body.json);
  if (!reading.ok)
    throw new ProtocolCliError('invalid-toolset', `the toolset at ${document.url} is not valid`, {
      faults: reading.faults.map(visibleLine),
      hint: 'One invalid tool makes the whole toolset unusable (RT-TOOLSET): fix these and try again.',
    });
  const { toolset, notes } = reading;
  const { base } = document;
  recordLoaded(wire, base, toolset);
  return { base, toolset, notes };
}

/**
 * The discovery document, not validated yet.
 * @throws ProtocolCliError `unreachable` or `no-discovery`.
 */
export async function findDocument(
  wire: Wire,
  url: string,
  hints = DISCOVERY_HINTS,
): Promise<DiscoveryDocument> {
  const statuses: string[] = [];
  let isLocked = false;
  for (const candidate of discoveryCandidates(url)) {
    const request = { ...REQUEST, url: candidate.url };
    const { status, body } = await recordedSend(wire, { purpose: 'discovery', attempt: 1 }, request);
    if (status === 200) return { ...candidate, body: new Content(body) };
    isLocked ||= status === 401 || status === 403;
    statuses.push(`${candidate.url} answered ${status}`);
  }
  throw new ProtocolCliError('no-discovery', `no discovery document: ${statuses.join(', ')}`, {
    hint: isLocked ? hints.locked : hints.missing,
  });
}

/** Records the operations that may be dispatched from now on (RT-OP). */
export function recordLoaded({ log }: Wire, base: string, { name, endpoint, tools }: Toolset): void {
  const operations = tools.map(tool => tool.name);
  log.emit({ kind: 'loaded', base, endpoint, toolset: name, operations, ...displayScriptsOf(tools) });
}
