import { Content } from '../events/content.js';
import { readToolset } from '../protocol/read-toolset.js';
import { discoveryCandidates, displayScriptsOf, type Toolset } from '../protocol/toolset.js';
import { ProtocolCliError } from '../util/errors.js';
import { visibleLine } from '../util/visible.js';
import { recordedSend, type Wire } from './notices.js';

const MAX_TOOLSET = 10 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** A toolset, and the base URL at which it was found. */
export interface Discovered {
  readonly base: string;
  readonly toolset: Toolset;
  readonly notes: readonly string[];
}

/** What to do where there is no document. */
export interface DiscoveryHints {
  /** It is there, and not for everybody. */
  readonly locked: string;
  readonly missing: string;
}

/** For who has no options of its own. */
export const DISCOVERY_HINTS: DiscoveryHints = {
  locked: 'Give a token with --bearer <token | env:NAME>, or a header with -H.',
  missing: 'Give the base URL of the tool server: its endpoint alone does not say which tools there are.',
};

/** A discovery document, valid or not, and where it was found. */
export interface DiscoveryDocument {
  readonly base: string;
  readonly url: string;
  readonly body: Content;
}

/**
 * Asks `{url}/.well-known/rap-toolset`, then the origin's, and loads what it gives.
 * @param hints of a command that has options of its own
 * @throws ProtocolCliError `unreachable`, `no-discovery` or `invalid-toolset`, each with what was asked.
 */
export async function discover(wire: Wire, url: string, hints = DISCOVERY_HINTS): Promise<Discovered> {
  const document = await findDocument(wire, url, hints);
  const reading = await readToolset(document.body.json);
  if (!reading.ok)
    throw new ProtocolCliError('invalid-toolset', `the toolset at ${document.url} is not valid`, {
      faults: reading.faults.map(visibleLine),
      hint: 'One invalid tool makes the whole toolset unusable (RT-TOOLSET): mend these and call again.',
    });
  const { toolset, notes } = reading;
  const { base } = document;
  recordLoaded(wire, base, toolset);
  return { base, toolset, notes };
}

/**
 * As {@link discover}, and leaves the judgement to others.
 * @throws ProtocolCliError `unreachable` or `no-discovery`.
 */
export async function findDocument(
  wire: Wire,
  url: string,
  hints = DISCOVERY_HINTS,
): Promise<DiscoveryDocument> {
  const asked: string[] = [];
  let isLocked = false;
  for (const candidate of discoveryCandidates(url)) {
    const answer = await ask(wire, candidate.url);
    if (answer.status === 200) return { ...candidate, body: new Content(answer.body) };
    isLocked ||= answer.status === 401 || answer.status === 403;
    asked.push(`${candidate.url} answered ${answer.status}`);
  }
  throw new ProtocolCliError('no-discovery', `no discovery document: ${asked.join(', ')}`, {
    hint: isLocked ? hints.locked : hints.missing,
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

/** What may be dispatched from now on (RT-OP). */
export function recordLoaded({ log }: Wire, base: string, { name, endpoint, tools }: Toolset): void {
  log.emit({
    kind: 'loaded',
    base,
    endpoint,
    toolset: name,
    operations: tools.map(tool => tool.name),
    ...displayScriptsOf(tools),
  });
}
