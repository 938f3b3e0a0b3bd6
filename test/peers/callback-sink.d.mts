import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from './runtime.mjs';

export interface Sink extends AsyncDisposable {
  readonly url: string;
  /** All there were, those there are, and the most there ever were at once. */
  readonly connections: number;
  readonly open: number;
  readonly mostOpen: number;
  /** From the head on; `raw` is null until the body is read. */
  readonly requests: readonly {
    method: string;
    url: string;
    headers: IncomingHttpHeaders;
    raw: string | null;
    at: number;
  }[];
  /** Requests to where `moved` points. */
  readonly followed: number;
  close(): Promise<void>;
}

export const SINKS: Readonly<
  Record<
    'ok' | 'hang' | 'broken' | 'reset' | 'half' | 'drip' | 'endless' | 'moved' | 'refuses' | 'busy',
    Answer
  >
>;

/** The answers in order, the last one from then on; 200 where none exists. */
export function openSink(...answers: readonly Answer[]): Promise<Sink>;
