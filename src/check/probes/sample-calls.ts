import { setImmediate } from 'node:timers/promises';
import type { Case, Offer } from '../../fixtures/cases.js';
import { exampleArguments } from '../../json-schema/example.js';
import type { RequirementId } from '../../protocol/requirements.js';
import type { Tool, Toolset } from '../../protocol/toolset.js';
import { toolOf } from '../../runtime/check-call.js';
import { ProtocolCliError } from '../../util/errors.js';
import { didYouMean } from '../../util/nearest.js';
import { visibleLine } from '../../util/visible.js';
import {
  arrivedWithin,
  hasReceived,
  isSubscription,
  type ReceivedCallback,
  type WaitOptions,
} from './callback-listener.js';
import {
  clientFor,
  concurrently,
  type Deferred,
  deferred,
  type Plan,
  type ProbeCall,
  type ProbeClient,
  type ProbeContext,
  type SentCall,
} from './probe-call.js';

/** An operation that may be called, and valid arguments for it. */
export interface Callable {
  readonly tool: Tool;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Whether it may be called repeatedly: it is marked readOnly, or named with --operation. */
  readonly isHarmless: boolean;
}

export interface Callables {
  readonly callables: readonly Callable[];
  /** Why something is not called, and what helps. */
  readonly warnings: readonly string[];
}

/** What may be called, by name and by case. */
interface Permission {
  readonly operations: readonly string[];
  readonly cases: readonly Case[];
}

/**
 * The operations that may be called: named by hand, written down as a case, or marked as harmless. Nothing else ever is: a check deletes
 * nobody's data.
 * @throws ProtocolCliError `unknown-operation` for a name that is none, of a case with its place.
 */
export async function callablesOf(toolset: Toolset, permission: Permission): Promise<Callables> {
  refuseUnknown(toolset, permission);
  const allowed = toolset.tools.filter(tool => mayBeCalled(tool, permission));
  const found = await inTurn(allowed, tool => callableOf(tool, permission));
  return {
    callables: found.filter(each => typeof each !== 'string'),
    warnings: [...gapsOf(allowed, permission), ...found.filter(each => typeof each === 'string')],
  };
}

/** For the example arguments of all operations together, in ms: a foreign schema may be made to be costly (threats, row 22). */
const MOST_MS = 5_000;

/** For the example arguments, or the broken ones, of one operation. */
export const SCHEMA_MS = 1_000;

export function overAfter(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() > end;
}

/** One operation after another, so that a signal is handled in between. */
async function inTurn(
  tools: readonly Tool[],
  work: (tool: Tool) => Promise<Callable | string>,
): Promise<readonly (Callable | string)[]> {
  const isOver = overAfter(MOST_MS);
  const done: (Callable | string)[] = [];
  for (const tool of tools) {
    await setImmediate();
    done.push(
      isOver()
        ? visibleLine(`${tool.name} is not called: the schemas of the others took too long`)
        : await work(tool),
    );
  }
  return done;
}

/** A misspelt name would end in an error result, which a case may even expect. */
function refuseUnknown(toolset: Toolset, { operations, cases }: Permission): void {
  for (const operation of operations) toolOf(toolset, operation);
  const names = toolset.tools.map(({ name }) => name);
  const faults = cases
    .filter(({ operation }) => !names.includes(operation))
    .map(({ place, operation }) => `${place}: no operation "${operation}". ${didYouMean(operation, names)}`);
  if (faults.length === 0) return;
  const whose = `the toolset ${visibleLine(toolset.name)} does not have`;
  throw new ProtocolCliError('unknown-operation', `the cases name what ${whose}`, {
    faults: faults.map(fault => visibleLine(fault.trim())),
    hint: 'correct the operations of these cases; `protocol-cli toolset <url>` lists those there are',
  });
}

/** Most rules are tried with an operation that may be called again and again: without one a check cannot come to an end. */
function gapsOf(allowed: readonly Tool[], permission: Permission): readonly string[] {
  if (allowed.length === 0) return [`no operation is called: ${WHY}`];
  const isAny = allowed.some(tool => isMarkedHarmless(tool) || permission.operations.includes(tool.name));
  return isAny ? [] : [`the cases are called once each, and most rules cannot be tried: ${WHY}`];
}

const WHY =
  'none is marked readOnly without requiresAuth or longRunning; use --operation <name> for one that may be called repeatedly, or --cases <file> for single calls';

function mayBeCalled(tool: Tool, { operations, cases }: Permission): boolean {
  const isWritten = cases.some(({ operation }) => operation === tool.name);
  return operations.includes(tool.name) || isWritten || isMarkedHarmless(tool);
}

function isMarkedHarmless({ annotations = {} }: Tool): boolean {
  const { readOnly, destructive, requiresAuth, longRunning } = annotations;
  return readOnly === true && !destructive && !longRunning && requiresAuth === undefined;
}

async function callableOf(tool: Tool, { operations, cases }: Permission): Promise<Callable | string> {
  const isHarmless = isMarkedHarmless(tool) || operations.includes(tool.name);
  const written = cases.find(({ operation }) => operation === tool.name);
  if (written) return { tool, arguments: written.arguments, isHarmless };
  const example = await exampleArguments(tool.inputSchema, overAfter(SCHEMA_MS));
  if (example.ok) return { tool, arguments: example.arguments, isHarmless };
  const why = `no valid arguments could be made from its inputSchema (${example.reason})`;
  return visibleLine(`${tool.name} is not called: ${why}; write a case`);
}

/** A followed subscription may end without a cancel, so a second call tests the cancel. */
async function callToCancel(context: ProbeContext, probeCall: ProbeCall, { inbox }: SentCall): Promise<void> {
  if (!context.wants('TOOL-SUB')) return;
  await arrivedWithin(context, context.windowMs, inbox.until(hasReceived('tool_result')));
  if (context.signal.aborted || !inbox.callbacks.some(isSubscription)) return;
  const plan = { id: `subscription ${probeCall.operation}`, checks: [] };
  await clientFor(context, plan).call({ ...probeCall, isFollowed: false });
}

/** How well an operation serves for all that is to be tried with one, from 0; null where it does not. */
type Rank = 0 | 1 | 2 | 3 | null;

type Waiting = WaitOptions & { readonly windowMs: number };

/** An operation that is tried, and its first call. */
interface Candidate {
  readonly callable: Callable;
  /** Null where it was not called any more. */
  readonly call: Promise<SentCall | null>;
}

/**
 * The operation to try everything else with: the first that answers with a plain result; else one that asks, subscribes, or says nothing.
 * One that needs a person's consent would need it each time.
 */
async function pickSampleOperation(
  options: Waiting,
  candidates: readonly Candidate[],
): Promise<Callable | null> {
  const ranked: { readonly rank: number; readonly callable: Callable }[] = [];
  const trying = candidates
    .filter(({ callable }) => callable.isHarmless)
    .map(({ callable, call }) => ({ callable, ranking: call.then(made => made && rankOf(options, made)) }));
  for (const { callable, ranking } of trying) {
    const rank = await ranking;
    if (rank === 0) return callable;
    if (rank !== null) ranked.push({ rank, callable });
  }
  return ranked.toSorted((one, other) => one.rank - other.rank)[0]?.callable ?? null;
}

async function rankOf(options: Waiting, { inbox }: SentCall): Promise<Rank> {
  await arrivedWithin(
    options,
    options.windowMs,
    inbox.until(callbacks => callbacks.some(isTelling)),
  );
  const { callbacks } = inbox;
  if (hasReceived('oauth')(callbacks)) return null;
  if (hasReceived('user_choice')(callbacks)) return 1;
  if (callbacks.some(isSubscription)) return 2;
  return hasReceived('tool_result')(callbacks) ? 0 : 3;
}

function isTelling({ message }: ReceivedCallback): boolean {
  return message?.type === 'tool_result' || message?.type === 'user_choice' || message?.type === 'oauth';
}

/** Every operation that may be called, called: a case as it is written, the others with an example of their arguments. */
export interface SampleCalls {
  /** The operation that the other probes call; null if there is none. */
  readonly sampleOperation: Promise<Callable | null>;
  readonly finished: Promise<void>;
}

/** What there is to call. */
export interface Tried {
  readonly callables: readonly Callable[];
  readonly cases: readonly Case[];
}

const CONCURRENCY = 8;
/** How many operations without a case are called, and how many may be silent before the rest is skipped. */
const MOST = { operations: 25, silent: 3 };

const SHOWN_BY: Readonly<Record<Offer, readonly RequirementId[]>> = {
  choice: ['TOOL-CHOICE'],
  oauth: ['TOOL-OAUTH'],
  subscription: ['TOOL-SUB'],
  view: ['TOOL-POST'],
};

interface SampleCall {
  readonly client: ProbeClient;
  readonly probeCall: ProbeCall;
  readonly sent: Deferred<SentCall | null>;
  readonly isWritten: boolean;
}

/** @param plan of the calls without a case */
export function startSampleCalls(
  context: ProbeContext,
  plan: Plan,
  { callables, cases }: Tried,
): SampleCalls {
  const isFollowed = context.wants('TOOL-SUB');
  const written = cases.map((each, index) => {
    const client = clientFor(context, planOf(each, index));
    return sampleCallOf(
      client,
      { ...each, isFollowed: isFollowed || each.offers.includes('subscription') },
      true,
    );
  });
  const client = clientFor(context, plan);
  const unwritten = callables.filter(({ tool }) => !cases.some(({ operation }) => operation === tool.name));
  const others = unwritten
    .slice(0, MOST.operations)
    .map(({ tool, arguments: args }) =>
      sampleCallOf(client, { operation: tool.name, arguments: args, isFollowed }, false),
    );
  const left = unwritten.length - others.length;
  if (left > 0) warn(context, `${left} more operations were not called (limit: ${MOST.operations})`);
  const sampleCalls = [...written, ...others];
  const firstOf = ({ tool }: Callable) =>
    sampleCalls.find(({ probeCall }) => probeCall.operation === tool.name);
  const repeatable = new Set(callables.filter(({ isHarmless }) => isHarmless).map(firstOf));
  const finished = tryAll(context, sampleCalls, repeatable);
  const candidates = callables.flatMap(callable => {
    const first = firstOf(callable);
    return first ? [{ callable, call: first.sent.promise }] : [];
  });
  return { finished, sampleOperation: pickSampleOperation(context, candidates) };
}

/**
 * Side by side. One that is silent costs a whole window, and a tool that is silent throughout is not waited for each time.
 * @param repeatable of the operations that may be called again, the first sampleCall of each
 */
async function tryAll(
  context: ProbeContext,
  sampleCalls: readonly SampleCall[],
  repeatable: ReadonlySet<SampleCall | undefined>,
): Promise<void> {
  let silent = 0;
  let left = 0;
  await concurrently(sampleCalls, CONCURRENCY, async sampleCall => {
    const { client, probeCall, sent, isWritten } = sampleCall;
    if (silent >= MOST.silent && !isWritten) {
      left++;
      return sent.resolve(null);
    }
    const call = client.send(probeCall);
    sent.resolve(call);
    const isTwice = repeatable.has(sampleCall);
    await Promise.all([client.finish(call), isTwice ? callToCancel(context, probeCall, call) : null]);
    if (call.inbox.callbacks.length === 0) silent++;
  });
  if (left > 0) warn(context, `${left} more operations were not called: ${silent} did not respond in time`);
}

function warn({ wire, signal }: ProbeContext, message: string): void {
  if (!signal.aborted) wire.log.emit({ kind: 'warned', message });
}

function sampleCallOf(
  client: ProbeClient,
  { operation, arguments: args, isFollowed }: Pick<ProbeCall, 'operation' | 'arguments' | 'isFollowed'>,
  isWritten: boolean,
): SampleCall {
  const probeCall = { operation, arguments: args, isFollowed };
  return { client, probeCall, sent: deferred(), isWritten };
}

/** The plan of a case, by its place in the list. */
function planOf({ offers }: Case, index: number): Plan {
  const checks = [...new Set(offers.flatMap(offer => SHOWN_BY[offer]))];
  return { id: `case ${index}`, checks, case: index };
}
