import { Content } from '../../events/content.js';
import type { RequestEvent } from '../../events/events.js';
import { type Log, ServedRequest } from '../../events/log.js';
import type { SessionFault, SessionSwitches } from '../../fixtures/session-script-types.js';
import type { Incoming, Reply } from '../../http/route.js';
import { exactJson } from '../../util/exact-json.js';
import { redactHeaders } from '../../util/headers.js';
import { type Detail, MAX_DETAILS, Refused } from './request-errors.js';
import type { Session } from './session.js';

interface ApiRequestOptions {
  readonly log: Log;
  readonly purpose: RequestEvent['purpose'];
  readonly incoming: Incoming;
  readonly body: Uint8Array;
  readonly session: Session | undefined;
  readonly requests: SessionSwitches['requests'];
  /** Called after a refusal that no script planned. */
  readonly onRefused: (status: number, reason: string) => void;
}

interface About {
  readonly thread?: string;
  readonly calls?: string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request to the API, which is logged with its response, without the key (threats, row 25). */
export class ApiRequest {
  #recorded: ServedRequest | undefined;
  /** Whether the connection breaks instead of carrying the answer. */
  #isLost = false;

  constructor(private readonly options: ApiRequestOptions) {}

  get incoming(): Incoming {
    return this.options.incoming;
  }

  get body(): Uint8Array {
    return this.options.body;
  }

  /** The session in the path, if there is such a session. */
  get session(): Session | undefined {
    return this.options.session;
  }

  /** Whether the script accepts more than the documented requests. */
  get isLenient(): boolean {
    return this.options.requests === 'lenient';
  }

  /** Runs a handler; refuses the request if the handler cannot read it. @param fault what the script plans for this request */
  async respondWith(
    respond: (request: ApiRequest) => Reply | Promise<Reply>,
    fault: SessionFault = 'ok',
  ): Promise<Reply> {
    if (typeof fault === 'number') return this.#refuseAsPlanned(fault);
    this.#isLost = fault === 'lost';
    try {
      return await respond(this);
    } catch (error) {
      if (error instanceof Refused) return this.refuse(error.status, error.why);
      throw error;
    }
  }

  /** Logs the request once: with its response, unless called before. */
  record({ thread = this.session?.id, calls }: About = {}): ServedRequest {
    const { incoming, body } = this;
    const { log, purpose } = this.options;
    this.#recorded ??= new ServedRequest(log, incoming, {
      from: 'client',
      to: 'platform',
      dialect: 'session',
      purpose,
      thread,
      calls,
      headers: redactHeaders(incoming.headers),
      body: body.length > 0 ? new Content(body) : undefined,
    });
    return this.#recorded;
  }

  /** Records that the client disconnected. */
  recordDisconnect(): Reply {
    return this.record().reset();
  }

  /** @param value JSON; undefined for an empty body */
  answer(status: number, value?: unknown, about: About = {}): Reply {
    const recorded = this.record(about);
    if (this.#isLost) return recorded.reset();
    if (value === undefined) return recorded.answer(status);
    const body = exactJson(value);
    const headers = { ...about.headers, 'Content-Type': 'application/json' };
    return recorded.answer(status, { headers, body }, { body: new Content(Buffer.from(body)) });
  }

  /** Responds with an error, which the verification reports. */
  refuse(status: number, why: string | readonly Detail[], about?: About): Reply {
    const detail = typeof why === 'string' ? why : why.slice(0, MAX_DETAILS);
    const answer = this.answer(status, status === 401 ? { message: detail } : { detail }, about);
    this.options.onRefused(status, reasonOf(why));
    return answer;
  }

  /** Refuses what the mock has no room for. */
  refuseOverCapacity(message: string): Reply {
    const answer = this.answer(429, quotaError('capacity', 'platform', message));
    this.options.onRefused(429, message);
    return answer;
  }

  /** A refusal that is a part of the script, and no finding. */
  #refuseAsPlanned(status: number): Reply {
    const message = 'The script of this mock refuses this request.';
    if (status === 429) return this.answer(status, quotaError('plan_limit', 'org', message));
    return this.answer(status, { detail: message });
  }
}

/** The first error, in one line. */
function reasonOf(why: string | readonly Detail[]): string {
  if (typeof why === 'string') return why;
  const [first] = why;
  return first ? `${first.loc.join('.')}: ${first.msg}` : '';
}

/** The body of a 429. */
function quotaError(type: 'plan_limit' | 'capacity', scope: 'org' | 'platform', message: string) {
  return { message, detail: [{ type, message, scope }] };
}
