import type * as z from 'zod/mini';
import { Content } from '../../events/content.js';
import type { RequestEvent } from '../../events/events.js';
import { type Log, ServedRequest } from '../../events/log.js';
import type { SessionFault, SessionSwitches, SessionTool } from '../../fixtures/session-script.js';
import { hasBody } from '../../http/body.js';
import type { Answer, Incoming, Reply } from '../../http/route.js';
import { exactJson } from '../../util/exact-json.js';
import { mediaTypeOf, redactHeaders } from '../../util/headers.js';
import { readJson } from '../../util/json.js';
import { isRecord, valueAt } from '../../util/values.js';
import { type Detail, detail, itemsAt, MAX, Refused, read, readEach, wrongType } from './details.js';
import { FINISHED, PostedResults } from './posted-results.js';
import { messageSchema, pageQuery, SCHEMAS } from './request-schemas.js';
import type { Session, UserMessage } from './session.js';

interface About {
  readonly thread?: string;
  readonly calls?: string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request to the API: read, and logged with its response, without the key (threats, row 25). */
export class ApiRequest {
  #recorded: ServedRequest | undefined;
  /** Whether the connection breaks instead of carrying the answer. */
  #isLost = false;

  constructor(
    private readonly log: Log,
    private readonly purpose: RequestEvent['purpose'],
    readonly incoming: Incoming,
    readonly body: Uint8Array,
    readonly session: Session | undefined,
    private readonly requests: SessionSwitches['requests'],
    private readonly onRefused: (status: number, reason: string) => void,
  ) {}

  /** Runs a handler; refuses the request if the handler cannot read it. @param fault what the script plans for this request */
  async handledBy(
    respond: (request: ApiRequest) => Reply | Promise<Reply>,
    fault: SessionFault = 'ok',
  ): Promise<Reply> {
    if (typeof fault === 'number') return this.#plannedRefusal(fault);
    this.#isLost = fault === 'lost';
    try {
      const reply = await respond(this);
      return this.#isLost ? 'reset' : reply;
    } catch (error) {
      if (error instanceof Refused) return this.refuse(error.status, error.why);
      throw error;
    }
  }

  /** A refusal that is a part of the script, and no finding. */
  #plannedRefusal(status: number): Answer {
    const message = 'The script of this mock refuses this request.';
    if (status === 429) return this.answer(status, quotaError('plan_limit', 'org', message));
    return this.answer(status, { detail: message });
  }

  get #schemas() {
    return SCHEMAS[this.requests];
  }

  get #isLenient(): boolean {
    return this.requests === 'lenient';
  }

  /** Logs the request once: with its response, unless called before. */
  record({ thread = this.session?.id, calls }: About = {}) {
    const { purpose, incoming, body } = this;
    this.#recorded ??= new ServedRequest(this.log, incoming, {
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

  /** @param value JSON; undefined for an empty body */
  answer(status: number, value?: unknown, about: About = {}): Answer {
    const recorded = this.record(about);
    if (this.#isLost) {
      recorded.reset();
      return { status };
    }
    if (value === undefined) return recorded.answer(status);
    const body = exactJson(value);
    const headers = { ...about.headers, 'Content-Type': 'application/json' };
    return recorded.answer(status, { headers, body }, { body: new Content(Buffer.from(body)) });
  }

  /** Responds with an error, which the verification reports. */
  refuse(status: number, why: string | readonly Detail[], about?: About): Answer {
    const detail = typeof why === 'string' ? why : why.slice(0, MAX.details);
    const [first] = why;
    const answer = this.answer(status, status === 401 ? { message: detail } : { detail }, about);
    this.onRefused(status, typeof first === 'object' ? `${first.loc.join('.')}: ${first.msg}` : String(why));
    return answer;
  }

  /** Refuses what the mock has no room for. */
  refuseForRoom(message: string): Answer {
    const answer = this.answer(429, quotaError('capacity', 'platform', message));
    this.onRefused(429, message);
    return answer;
  }

  /** Records that the client disconnected. */
  gone(): Reply {
    return this.record().reset();
  }

  /** Answers with one page of a list. @param limits default and maximum page size */
  answerPage<T>(
    all: readonly T[],
    limits: { readonly size: number; readonly max: number },
    view: (each: T) => unknown = each => each,
  ): Answer {
    const { page, size } = this.query(
      pageQuery(limits.size, this.#isLenient ? Number.MAX_SAFE_INTEGER : limits.max),
    );
    const shown = Math.min(size, limits.max);
    const items = all.slice((page - 1) * shown, page * shown).map(view);
    return this.answer(200, { items, page, total: all.length });
  }

  /** The query of a long poll. */
  changes() {
    return this.query(this.#schemas.changes);
  }

  /** Reads a request to create a session. Tools in `overrides` replace the agent's own. */
  creation(): {
    readonly tools?: readonly SessionTool[] | undefined;
    readonly request?: unknown;
    readonly messages?: readonly UserMessage[];
  } {
    const { headers } = this.incoming;
    if (this.body.length === 0 && headers['content-type'] === undefined && this.#isLenient) return {};
    const { value: request } = this.json();
    read(this.#schemas.creation, request, ['body']);
    // as they were sent: the schema's copy would lose a key named `__proto__` (threats, row 19)
    const toolsAt = (...path: string[]) => {
      const tools = valueAt(request, ...path);
      if (tools === null || tools === undefined) return undefined;
      if (!Array.isArray(tools)) throw new Refused(422, [wrongType('array', ['body', ...path], tools)]);
      readEach(this.#schemas.tool, itemsAt(['body', ...path], tools));
      return tools as readonly SessionTool[];
    };
    const agentTools = toolsAt('agent', 'tools');
    const tools = toolsAt('overrides', 'agent.tools') ?? agentTools;
    return { tools, request, messages: firstMessages(request['messages']) };
  }

  /** Reads one message, or a batch of them. */
  messages({ isOver }: Session): readonly UserMessage[] {
    const { value } = this.json();
    const isBatch =
      value['type'] === 'batch' || (value['type'] === undefined && value['messages'] !== undefined);
    const sent = isBatch
      ? itemsAt(['body', 'messages'], read(this.#schemas.messages, value, ['body']).messages)
      : [{ value, loc: ['body'] }];
    readEach(messageSchema, sent);
    if (isOver) throw new Refused(409, FINISHED);
    return sent.map(each => each.value as UserMessage);
  }

  /** Reads settled calls. @throws Refused */
  results(session: Session): PostedResults {
    const { value, notes } = this.json();
    return PostedResults.read(session, value, notes);
  }

  /** Refuses a media type other than JSON. */
  refuseMediaType(accepts?: 'json' | 'json?'): Answer | undefined {
    const { headers } = this.incoming;
    const { 'content-type': type } = headers;
    const isBare = accepts === 'json?' && type === undefined && !hasBody({ headers });
    if (!accepts || isBare || mediaTypeOf(type ?? '') === 'application/json') return undefined;
    const loc = ['header', 'Content-Type'];
    return this.refuse(422, [detail('content_type', loc, "Input should be 'application/json'", type)]);
  }

  /** Refuses an `Idempotency-Key` that was used with another body. */
  refuseKey(key: unknown): Answer {
    const loc = ['header', 'Idempotency-Key'];
    return this.refuse(422, [
      detail('idempotency_key_reused', loc, 'This key was used with another body', key),
    ]);
  }

  /** Validates a header. @throws Refused */
  header<Schema extends z.ZodMiniType>(name: string, schema: Schema): z.output<Schema> {
    return read(schema, this.incoming.headers[name.toLowerCase()], ['header', name]);
  }

  /** Validates the body. @throws Refused */
  parsed<Schema extends z.ZodMiniType>(schema: Schema): z.output<Schema> {
    return read(schema, this.json().value, ['body']);
  }

  /** The body, which must be a JSON object. @throws Refused */
  json(): { readonly value: Readonly<Record<string, unknown>>; readonly notes: readonly string[] } {
    const json = readJson(this.body);
    if (!json.ok)
      throw new Refused(422, [detail('json_invalid', ['body'], `JSON decode error: ${json.reason}`, {})]);
    const { value, notes } = json;
    if (!isRecord(value)) throw new Refused(422, [wrongType('object', ['body'], value)]);
    return { value, notes };
  }

  /** Validates the query. @param lists the parameters that may come several times. @throws Refused */
  query<Schema extends z.ZodMiniType>(schema: Schema, lists: readonly string[] = []): z.output<Schema> {
    const [, query = ''] = this.incoming.target.split(/\?(.*)/s);
    const params = new URLSearchParams(query);
    const given = Object.fromEntries(params);
    const repeated = lists.filter(name => params.has(name)).map(name => [name, params.getAll(name)]);
    return read(schema, { ...given, ...Object.fromEntries(repeated) }, ['query']);
  }
}

/** The body of a 429. */
function quotaError(type: 'plan_limit' | 'capacity', scope: 'org' | 'platform', message: string) {
  return { message, detail: [{ type, message, scope }] };
}

/** The initial task: a text, a message, or a list of messages. */
function firstMessages(messages: unknown): readonly UserMessage[] {
  if (messages === null || messages === undefined) return [];
  if (typeof messages === 'string') return [{ message: messages }];
  const sent = Array.isArray(messages)
    ? itemsAt(['body', 'messages'], messages)
    : [{ value: messages, loc: ['body', 'messages'] }];
  readEach(messageSchema, sent);
  return sent.map(({ value }) => value as UserMessage);
}
