import type { Content } from './content.js';
import type { RequestEvent, ResponseEvent } from './events.js';
import type { Log } from './log.js';

type RequestFact = Omit<RequestEvent, 'kind' | 'seq' | 'at' | 'leg' | 'attempt' | 'earlier'> & {
  /** Default: 1. */
  readonly attempt?: number;
};

interface ResponseParts {
  readonly headers?: ResponseEvent['headers'];
  readonly body?: Content | undefined;
  readonly refusal?: string | undefined;
}

const NO_HEADERS: ResponseEvent['headers'] = Object.freeze({});

/** A request in the log, to which its response or its failure is added. */
export class RecordedRequest {
  readonly leg: string;
  readonly #calls: RequestFact['calls'];
  readonly #thread: RequestFact['thread'];

  /** Emits the request. */
  constructor(
    private readonly log: Log,
    request: RequestFact,
  ) {
    this.leg = log.leg();
    this.#calls = request.calls;
    this.#thread = request.thread;
    const { from, to, purpose, dialect, hop, method, url, headers, body, turn, calls, thread } = request;
    const wire = { from, to, purpose, dialect, hop, method, url, headers, attempt: request.attempt ?? 1 };
    log.emit({ kind: 'request', leg: this.leg, ...wire, calls, thread, body, turn });
  }

  answered(status: number, { headers = NO_HEADERS, body, refusal }: ResponseParts = {}): void {
    const about = { calls: this.#calls, thread: this.#thread };
    this.log.emit({ kind: 'response', leg: this.leg, status, headers, ...about, body, refusal });
  }

  broken(phase: string, code: string): void {
    this.log.emit({ kind: 'broken', leg: this.leg, phase, code, calls: this.#calls, thread: this.#thread });
  }

  /** As {@link broken}, with the phase and code of a `TransportError`. */
  failed(error: unknown): void {
    const { phase = 'send', code = 'UNKNOWN' } = isTransportError(error) ? error : {};
    this.broken(phase, code);
  }
}

/** Emits a request; what became of it is reported to the returned object. */
export function recordRequest(log: Log, request: RequestFact): RecordedRequest {
  return new RecordedRequest(log, request);
}

function isTransportError(error: unknown): error is { readonly phase: string; readonly code: string } {
  return error instanceof Error && error.name === 'TransportError';
}
