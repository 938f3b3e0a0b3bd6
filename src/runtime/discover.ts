import { Content } from '../events/content.js';
import type { SchemaFault } from '../json-schema/validator.js';
import { checkValue, remarksOn } from '../json-schema/validator.js';
import { readToolset } from '../protocol/read-toolset.js';
import type { Warning } from '../protocol/requirements.js';
import { discoveryCandidates, displayScriptsOf, type Tool, type Toolset } from '../protocol/toolset.js';
import { ProtocolCliError } from '../util/errors.js';
import { didYouMean, excerpt, firstFew } from '../util/text.js';
import { mediaTypeOf } from '../util/url.js';
import { isRecord } from '../util/values.js';
import { visibleLine } from '../util/visible.js';
import { recordedSend, type Wire } from './notices.js';

const REQUEST = {
  method: 'GET',
  headers: { accept: 'application/json' },
  read: { maxBytes: 10 * 1024 * 1024 },
} as const;

const MAX_MS = 10_000;

export interface Discovered {
  readonly base: string;
  readonly toolset: Toolset;
  readonly notes: readonly string[];
}

/** Hints if discovery finds no document: for a server that requires credentials, and for all others. */
export const DISCOVERY_HINTS = {
  locked: 'Give a token with --bearer <token | env:NAME>, or a header with -H.',
  missing: 'Give the base URL of the tool server: its endpoint alone does not say which tools there are.',
};

const WEB_PAGE = 'text/html';

/**
 * Requests `{url}/.well-known/rap-toolset`, then the origin's, and loads the toolset.
 * @param timeoutMs time limit of the user; 0 for the default of 10 s, which is also the longest
 * @throws ProtocolCliError `unreachable`, `no-discovery` or `invalid-toolset`.
 */
export async function discover(
  wire: Wire,
  url: string,
  hints = DISCOVERY_HINTS,
  timeoutMs = 0,
): Promise<Discovered> {
  const document = await findDocument(wire, url, hints, timeoutMs);
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
export async function findDocument(wire: Wire, url: string, hints = DISCOVERY_HINTS, timeoutMs = 0) {
  const answers: DiscoveryAnswer[] = [];
  for (const candidate of discoveryCandidates(url)) {
    const request = { ...REQUEST, url: candidate.url, timeoutMs: Math.min(timeoutMs || MAX_MS, MAX_MS) };
    const { status, headers, body } = await recordedSend(wire, { purpose: 'discovery', attempt: 1 }, request);
    const isPage = mediaTypeOf(headers['content-type'] ?? '') === WEB_PAGE;
    const content = new Content(body);
    if (status === 200 && (content.json.ok || !isPage)) return { ...candidate, body: content };
    answers.push({ url: candidate.url, status, isPage });
  }
  throw noDocument(answers, hints);
}

interface DiscoveryAnswer {
  readonly url: string;
  readonly status: number;
  readonly isPage: boolean;
}

function noDocument(answers: readonly DiscoveryAnswer[], hints: typeof DISCOVERY_HINTS): ProtocolCliError {
  const texts = answers.map(
    ({ url, status, isPage }) => `${url} answered ${status}${isPage ? ` with ${WEB_PAGE}` : ''}`,
  );
  const isLocked = answers.some(({ status }) => status === 401 || status === 403);
  const page = answers.some(({ isPage }) => isPage) ? 'This is a web page, not a RAP tool. ' : '';
  return new ProtocolCliError('no-discovery', `no discovery document: ${texts.join(', ')}`, {
    hint: isLocked ? hints.locked : page + hints.missing,
  });
}

/** Records the operations that may be dispatched from now on (RT-OP). */
export function recordLoaded({ log }: Wire, base: string, { name, endpoint, tools }: Toolset): void {
  const operations = tools.map(tool => tool.name);
  log.emit({ kind: 'loaded', base, endpoint, toolset: name, operations, ...displayScriptsOf(tools) });
}

const MAX_NAMES = 60;

/**
 * Returns the tool that an operation names (RT-OP).
 * @throws ProtocolCliError `unknown-operation`, with the nearest names and the available ones.
 */
export function toolOf({ name, tools }: Pick<Toolset, 'name' | 'tools'>, operation: string): Tool {
  const found = tools.find(tool => tool.name === operation);
  if (found) return found;
  const names = tools.map(tool => tool.name);
  const hints = [didYouMean(operation, names), `Available: ${firstFew(names, MAX_NAMES)}.`];
  throw new ProtocolCliError(
    'unknown-operation',
    `no operation "${operation}" in the toolset ${visibleLine(name)}`,
    { hint: names.length === 0 ? 'It has none at all.' : hints.filter(Boolean).join(' ') },
  );
}

/**
 * Validates arguments against the operation's `inputSchema` (RT-ARGS). Errors prevent the call, warnings do not. A mismatched `format`
 * and an unusable schema are warnings.
 */
export async function judgeArguments(
  { name, inputSchema }: Pick<Tool, 'name' | 'inputSchema'>,
  args: unknown,
): Promise<{ readonly faults: readonly SchemaFault[]; readonly warnings: readonly Warning[] }> {
  const check = await checkValue(inputSchema, args);
  if (check.kind === 'invalid') return { faults: check.faults, warnings: [] };
  if (check.kind === 'unusable') {
    const why = `the inputSchema of ${name} cannot be used: ${visibleLine(check.reason)}`;
    return { faults: [], warnings: [{ id: 'RT-ARGS', message: `the arguments were not checked: ${why}` }] };
  }
  const remarks = await remarksOn(inputSchema, args);
  const warnings = remarks.map(({ path, message }) => ({
    message: visibleLine(`the argument ${path} ${message}`),
  }));
  return { faults: [], warnings };
}

/**
 * Returns the warnings of {@link judgeArguments}.
 * @param shown where the user finds the accepted arguments
 * @throws ProtocolCliError `invalid-arguments`, with path and rule of every error.
 */
export async function checkArguments(
  tool: Tool,
  args: unknown,
  shown = `\`protocol-cli toolset <url>\` shows what ${tool.name} takes; `,
): Promise<Warning[]> {
  const { faults, warnings } = await judgeArguments(tool, args);
  if (faults.length === 0) return [...warnings];
  throw new ProtocolCliError(
    'invalid-arguments',
    `the arguments do not match the inputSchema of ${tool.name}`,
    {
      faults: faults.map(({ path, message }) => visibleLine(`${path}: ${message}`)),
      hint: `${offerFor(tool, args)}${shown}--no-validate sends them as they are.`,
    },
  );
}

/** For a misspelled argument, the nearest name of an argument that is not given. */
function offerFor({ inputSchema: { properties } }: Tool, args: unknown): string {
  if (!isRecord(args) || !isRecord(properties)) return '';
  const missing = Object.keys(properties).filter(name => !Object.hasOwn(args, name));
  for (const name of Object.keys(args)) {
    const offer = Object.hasOwn(properties, name) ? '' : didYouMean(name, missing);
    if (offer !== '') return visibleLine(`Unexpected argument ${excerpt(name)}. ${offer} `);
  }
  return '';
}
