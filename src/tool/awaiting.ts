import type { Event } from '../exchange/events.js';
import type { Listener } from '../exchange/log.js';
import { type ToolCall, toolCallState } from '../exchange/tool-call.js';
import { ToolCalls } from '../exchange/tool-calls.js';
import { didYouMean } from '../text/nearest.js';

/** The name of an operation, or a question. */
export type CallFilter = string | ((call: ToolCall) => boolean);

/** A call that is waited for. */
export interface Awaited {
  /** For whoever waits in vain: `a call of "search"`. */
  readonly what: string;
  readonly filter?: CallFilter | undefined;
  readonly ready?: (call: ToolCall) => boolean;
}

/** Less than test runners allow a test by default, so that what this says is what is read. */
export const PATIENCE_MS = 4_000;

interface Observed {
  readonly events: readonly Event[];
  subscribe(listener: Listener): () => void;
}

/** @throws Error for the name of an operation that is not among those that are offered, with the one that was probably meant. */
export function requireOffered(name: string, offered: readonly string[]): void {
  if (offered.includes(name)) return;
  const meant = didYouMean(name, offered) || `It offers ${offered.join(', ')}.`;
  throw new Error(`the tool offers no operation "${name}". ${meant} A filter function waits for any call.`);
}

/**
 * The first call, come or still to come, that passes `filter` and is `ready`.
 * @throws Error where there is none within `timeoutMs`; it says what came instead.
 */
export function callWithin(
  observed: Observed,
  timeoutMs: number,
  { what, filter = () => true, ready = () => true }: Awaited,
): Promise<ToolCall> {
  const isIt =
    typeof filter === 'string' ? (call: ToolCall) => call.invocation?.operation === filter : filter;
  const calls = ToolCalls.of(observed.events);
  const there = calls.list.find(call => isIt(call) && ready(call));
  if (there) return Promise.resolve(there);
  return new Promise((resolve, reject) => {
    const stop = observed.subscribe(event => {
      calls.apply(event);
      const call = event.calls?.map(key => calls.get(key)).find(each => each && isIt(each) && ready(each));
      if (!call) return;
      clearTimeout(timer);
      stop();
      resolve(call);
    });
    const timer = setTimeout(() => {
      stop();
      reject(new Error(`waited ${timeoutMs} ms for ${what} in vain; ${whatCame(calls.list)}`));
    }, timeoutMs);
  });
}

function whatCame(calls: readonly ToolCall[]): string {
  if (calls.length === 0) return 'no call came at all';
  const named = calls
    .slice(-5)
    .map(
      call =>
        `${call.invocation?.operation ?? 'a malformed one'} (${[call.addressee?.id, toolCallState(call)].join(', ')})`,
    );
  return `the last calls were ${named.join(', ')}`;
}
