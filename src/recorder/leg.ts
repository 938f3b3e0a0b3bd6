import type { Content } from '../exchange/content.js';
import type { RequestEvent } from '../exchange/events.js';
import type { Hop } from '../exchange/hop.js';
import type { Log } from '../exchange/log.js';

/** What a message is, on either side. */
export interface Matter {
  readonly purpose: RequestEvent['purpose'];
  /** Keys of the calls, and the thread, that it concerns, as far as they are known. */
  readonly calls?: string[] | undefined;
  readonly thread?: string | undefined;
}

/** How a message is on one side. */
export interface Sight {
  readonly hop: Hop;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Content | undefined;
}

export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Content | undefined;
  /** Why it was refused before its body counted. */
  readonly refusal?: string | undefined;
}

/** A message on one side, whose end is to be told. */
export interface Leg {
  answered(response: Response): void;
  broken(phase: string, code: string): void;
}

/** Tells of a message on one side of us, now. */
export function tellRequest(log: Log, { purpose, calls, thread }: Matter, sight: Sight): Leg {
  const leg = log.leg();
  const concerns = { calls, thread };
  log.emit({ kind: 'request', leg, ...partiesOf(purpose), purpose, attempt: 1, ...concerns, ...sight });
  return {
    answered: ({ headers, ...response }) =>
      void log.emit({ kind: 'response', leg, headers: { ...headers }, ...concerns, ...response }),
    broken: (phase, code) => void log.emit({ kind: 'broken', leg, phase, code, ...concerns }),
  };
}

/** Only callbacks come from the tool. */
export function isFromTool(purpose: RequestEvent['purpose']): boolean {
  return purpose === 'callback';
}

/** Names the way of all that a thread says to one side; null where no thread is known. */
export function laneTo(to: 'runtime' | 'tool', { thread }: Pick<Matter, 'thread'>): string | null {
  return thread === undefined ? null : JSON.stringify([to, thread]);
}

export function partiesOf(purpose: RequestEvent['purpose']) {
  return isFromTool(purpose)
    ? ({ from: 'tool', to: 'runtime' } as const)
    : ({ from: 'runtime', to: 'tool' } as const);
}
