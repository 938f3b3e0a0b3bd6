import type { ListenerOptions } from '../../runtime/callback-server.js';
import type { Wire } from '../../runtime/wire.js';
import { START_PLAN } from '../server-runs.js';
import { Prober, type SentCall } from './prober.js';

/** The server that the check started. */
export interface OwnServer {
  /** Waits briefly for the exit of a server whose connection broke. */
  settle(): Promise<void>;
  /** @throws ProtocolCliError `command-failed` */
  startAgain(): Promise<{ readonly wire: Wire; stop(): Promise<void> }>;
}

/** Repeats a call or a probe that may have ended a server. */
export type Suspect = (prober: Prober) => Promise<void>;

interface AloneOptions extends Omit<Prober['options'], 'wire' | 'endpoint'> {
  readonly listener: ListenerOptions;
}

/** Each suspect costs the start of a server. */
const MAX_SUSPECTS = 16;

/** How long a server may take to exit, in ms, beyond the time that it took before. */
export const EXIT_MS = 1_000;

/** Finds out what ended a server: repeats each suspect on a new server, with nothing else in progress, until one exits too. */
export async function repeatAlone(
  suspects: readonly Suspect[],
  server: OwnServer,
  options: AloneOptions,
): Promise<void> {
  for (const suspect of suspects.slice(0, MAX_SUSPECTS)) {
    if (options.signal.aborted) return;
    const { wire, stop } = await server.startAgain();
    try {
      if (await exits(suspect, wire, server, options)) return;
    } finally {
      await stop();
    }
  }
}

async function exits(
  suspect: Suspect,
  wire: Wire,
  server: OwnServer,
  options: AloneOptions,
): Promise<boolean> {
  wire.log.emit({ kind: 'planned', by: 'probe', plan: START_PLAN, checks: [] });
  const reading = await wire.loadToolset();
  const prober = new Prober({
    ...options,
    wire,
    endpoint: reading.ok ? reading.toolset.endpoint : wire.base,
  });
  try {
    await prober.listen(options.listener);
    await suspect(prober);
    await server.settle();
    return prober.tool.exitedAt !== null;
  } finally {
    await prober.close();
  }
}

/**
 * The calls that may have ended their server: one of each operation first, and of those the ones that were open. But a tool may
 * also crash after it has sent a result, so the latest of those that had ended come next.
 * @param mayRepeat whether an operation may be called again
 */
export function suspectsOf(
  calls: readonly SentCall[],
  mayRepeat: (operation: string) => boolean,
): readonly Suspect[] {
  const delivered = calls.filter(call => call.isDelivered && mayRepeat(call.call.operation));
  const isOpen = (call: SentCall) => !call.hasReceived('tool_result');
  const ended = delivered.filter(call => !isOpen(call));
  const ordered = [...delivered.filter(isOpen), ...ended.reverse()];
  const ofEachOperation = firstOfEach(ordered, ({ call }) => call.operation);
  return firstOfEach([...ofEachOperation, ...ordered], contentOf).map(call => prober => repeat(call, prober));
}

function firstOfEach(calls: readonly SentCall[], nameOf: (call: SentCall) => unknown): readonly SentCall[] {
  const names = new Set<unknown>();
  return calls.filter(call => !names.has(nameOf(call)) && names.add(nameOf(call)));
}

/** Equal for calls that send the same, apart from their ids. */
function contentOf({ call }: SentCall): unknown {
  const { body, addressed, ...content } = call;
  return body || addressed ? call : JSON.stringify(content);
}

async function repeat({ plan, key, call, msUntilExit }: SentCall, prober: Prober): Promise<void> {
  const again = prober.send({ id: plan.id, checks: [], newServer: true }, `${key} alone`, call);
  const { windowMs } = prober;
  const hasResult = await prober.within(
    windowMs,
    again.until(() => again.hasReceived('tool_result')),
  );
  await prober.within(Math.min(msUntilExit, windowMs) + EXIT_MS);
  if (!hasResult && !prober.isAborted) prober.recordCancel(again.key); // it was not awaited as long as other calls are
}
