import type { Event, EventOf } from '../events/events.js';
import type { History } from '../events/history.js';
import type { UntrackedRequest } from '../events/untracked-requests.js';
import { type Line, line, pluralize, quote, took } from './line.js';
import { labelledStep, type Step, type StepText } from './step.js';
import { refusedText } from './warnings.js';

/** The step of a discovery whose toolset was loaded. */
export function loadedStep(history: History, event: EventOf<'loaded'>): Step {
  const { at, toolset, base, operations } = event;
  const where = base !== null && line` at ${quote(base)}`;
  const count = pluralize(operations.length, 'operation');
  const begunAt = discoveryBegunAt(history, event);
  const time = begunAt !== null && took(at - begunAt, 'in');
  const words = line`discovered ${quote(toolset, 'title')} (${count})${where}${time}`;
  return { at, state: 'done', lines: [words] };
}

/**
 * When the discovery of a toolset began: of the latest one that succeeded, since a toolset is loaded as soon as its document arrives.
 * Without one, as with MCP servers, whose requests are in no history, the first toolset took the whole time; null for later ones.
 */
function discoveryBegunAt({ untracked, toolsets }: History, { base }: EventOf<'loaded'>): number | null {
  const [latest] = base === null ? [] : untracked.values().filter(isSuccessfulDiscovery).sort(byLatestEnd);
  if (latest) return latest.at;
  return toolsets.length > 1 ? null : 0;
}

function isSuccessfulDiscovery({ purpose, status }: UntrackedRequest): boolean {
  return purpose === 'discovery' && status === 200;
}

function byLatestEnd(one: UntrackedRequest, other: UntrackedRequest): number {
  return (other.endedAt ?? 0) - (one.endedAt ?? 0);
}

type DescribeEnd = (request: UntrackedRequest, endedAt: number, history: History) => StepText | null;

/** How the requests outside of calls ended. Other purposes have no step. */
const ENDED: Readonly<Partial<Record<UntrackedRequest['purpose'], DescribeEnd>>> = {
  discovery({ url, at, status, broken }, endedAt) {
    // The step of the loaded toolset shows a successful discovery.
    if (status === 200) return null;
    const answer = status === undefined ? `unreachable: ${broken ?? 'broken'}` : `answered ${status}`;
    return { state: 'failed', words: line`${quote(url)} ${answer}${took(endedAt - at)}` };
  },
  choice({ calls, at, status, broken }, endedAt, history) {
    const time = took(endedAt - at);
    if (status === 200) return { state: 'done', words: line`selection sent, answered 200${time}` };
    const why = status === undefined ? (broken ?? 'not answered') : `answered ${status} instead of 200`;
    // The tool still waits for the selection, so the call stays pending.
    const isPending = calls.some(key => (history.exchanges.get(key)?.settled?.at ?? Infinity) > endedAt);
    const words = line`could not send the selection: ${why}${time}${isPending && '; the call stays pending'}`;
    return { state: 'failed', words };
  },
  close: noticeWords('thread closed'),
  cancel: noticeWords('call canceled'),
};

function noticeWords(what: string): DescribeEnd {
  return ({ at, status }, endedAt) => {
    const answer = status === undefined ? 'not answered' : `answered ${status}`;
    const words = line`${what}, ${answer}${took(endedAt - at)}`;
    return { state: status === 200 ? 'done' : 'note', words };
  };
}

/** The steps of requests outside of calls that an event completes. */
export function requestSteps(history: History, event: Event, isOfMany: boolean): Step[] {
  const isEnd = event.kind === 'response' || event.kind === 'broken';
  const request = isEnd ? history.untracked.get(event.leg) : undefined;
  if (!request) return [];
  return [...endedSteps(request, history, isOfMany), ...straySteps(request, history)];
}

function endedSteps(request: UntrackedRequest, history: History, isOfMany: boolean): Step[] {
  const { leg, endedAt = 0, purpose, calls } = request;
  const ended = ENDED[purpose]?.(request, endedAt, history);
  if (!ended) return [];
  const step = { at: endedAt, state: ended.state, lines: [ended.words], leg };
  return [labelledStep(step, history.exchanges.get(calls[0] ?? ''), isOfMany)];
}

/** A callback outside of calls, if it is the first that was refused in this way. */
function straySteps(request: UntrackedRequest, { untracked }: History): Step[] {
  const { at, leg } = request;
  if (!isFirstOfItsKind(untracked.values(), request)) return [];
  return [{ at, state: 'failed', lines: [strayRequestLine(request)], leg }];
}

function strayRequestLine(request: UntrackedRequest): Line {
  const isLost = request.refusal === 'wrong-address';
  return isLost ? line`a POST to a wrong callback URL, answered 404` : quote(refusedText(request));
}

function isStray({ purpose, status }: UntrackedRequest): boolean {
  return purpose === 'callback' && status !== undefined;
}

function isFirstOfItsKind(untracked: Iterable<UntrackedRequest>, request: UntrackedRequest): boolean {
  if (!isStray(request)) return false;
  for (const other of untracked)
    if (other !== request && isStray(other) && other.refusal === request.refusal) return false;
  return true;
}
