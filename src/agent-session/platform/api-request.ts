import * as z from 'zod/mini';
import { Content } from '../../events/content.js';
import type { RequestEvent } from '../../events/events.js';
import { type Log, ServedRequest } from '../../events/log.js';
import { isEqual } from '../../fixtures/pattern.js';
import type { SessionTool } from '../../fixtures/session-script.js';
import { hasBody } from '../../http/body.js';
import type { Answer, Incoming, Reply } from '../../http/route.js';
import { errorEventSchema, type SettledCall, sessionResultSchema } from '../../protocol/session.js';
import { NO_MESSAGE, sentence } from '../../protocol/validate.js';
import { exactJson } from '../../util/exact-json.js';
import { mediaTypeOf } from '../../util/headers.js';
import { readJson } from '../../util/json.js';
import { redactHeaders, safeJson } from '../../util/redact.js';
import { isRecord, valueAt } from '../../util/values.js';
import type { Session } from './session.js';

type Path = readonly (string | number)[];

type PendingCall = Session['pending'][number];

/** One error in a request, in the platform's format: what, where, and the value. */
interface Detail {
  readonly type: string;
  readonly loc: Path;
  readonly msg: string;
  readonly input: unknown;
}

/** Maximum length of quoted JSON, in characters, and number of details. */
const MAX = { input: 200, details: 100 };

function detail(type: string, loc: Path, msg: string, input: unknown = null): Detail {
  const json = safeJson(input);
  return { type, loc, msg, input: json.length <= MAX.input ? input : `${json.slice(0, MAX.input)}…` };
}

function detailOf(issue: z.core.$ZodIssue, loc: Path): Detail {
  const { input, path } = issue;
  const at = [...loc, ...path.map(key => (typeof key === 'symbol' ? String(key) : key))];
  if (input === undefined) return detail('missing', at, 'Field required');
  if (issue.code === 'invalid_type') return wrongType(issue.expected, at, input);
  if (issue.code !== 'invalid_value') return detail('value_error', at, `Input ${sentence(issue)}`, input);
  const quoted = issue.values.map(value => (typeof value === 'string' ? `'${value}'` : String(value)));
  return detail('literal_error', at, `Input should be ${quoted.join(' or ')}`, input);
}

/** The platform's names of types whose names in zod differ. */
const TYPES: Readonly<Record<string, string>> = { object: 'dict', record: 'dict', array: 'list' };

function wrongType(expected: string, loc: Path, input: unknown): Detail {
  const type = TYPES[expected] ?? expected;
  return detail(`${type}_type`, loc, `Input should be a valid ${type}`, input);
}

/** Thrown while a request is read. */
class Refused extends Error {
  constructor(
    readonly status: number,
    readonly why: string | readonly Detail[],
  ) {
    super();
  }
}

/** Validates an untrusted value. @param loc its path in the request */
function check<Schema extends z.ZodMiniType>(schema: Schema, value: unknown, loc: Path) {
  const { data, error } = schema.safeParse(value, { reportInput: true, error: () => NO_MESSAGE });
  return { data, details: error?.issues.map(issue => detailOf(issue, loc)) ?? [] };
}

/** Validates an untrusted value. @param loc its path in the request @throws Refused */
function read<Schema extends z.ZodMiniType>(schema: Schema, value: unknown, loc: Path): z.output<Schema> {
  const { data, details } = check(schema, value, loc);
  if (details.length > 0) throw new Refused(422, details);
  return data as z.output<Schema>;
}

const count = (preset: number, min = 0) =>
  z._default(z.coerce.number().check(z.int(), z.minimum(min)), preset);

const changesQuery = z.object({
  from_index: count(0),
  limit: count(Number.MAX_SAFE_INTEGER, 1),
  include_events: z._default(z.stringbool(), true),
  wait_for_seconds: z._default(z.coerce.number().check(z.minimum(0)), 0),
});

const toolSchema = z.object({
  name: z.string(),
  description: z.optional(z.string()),
  input_schema: z.optional(z.record(z.string(), z.unknown())),
});

/** Here and below, the items of lists are validated one by one: zod cannot return the errors of very many. */
const listSchema = z.optional(z.array(z.unknown()));

const creationSchema = z.object({
  agent: z.optional(z.union([z.string(), z.object({ tools: listSchema })])),
  overrides: z.optional(z.object({ 'agent.tools': listSchema })),
});

const messageSchema = z.object({ type: z.literal('user_message'), message: z.string() });

const messagesSchema = z.object({ messages: z.array(z.unknown()) });

const resultsSchema = z.object({ type: z.literal('batch'), results: z.array(z.unknown()) });

const kindSchema = z.object({ kind: z.enum(['tool_result', 'error_event']) });

/** A value of a body, as it was sent: the schema's copy would lose a key named `__proto__` (threats, row 19). */
interface Sent {
  readonly value: unknown;
  readonly loc: Path;
}

function faultsOfResult({ value, loc }: Sent): readonly Detail[] {
  const { data, details } = check(kindSchema, value, loc); // first, because an unknown kind has no other fields
  if (!data) return details;
  return check(data.kind === 'tool_result' ? sessionResultSchema : errorEventSchema, value, loc).details;
}

/** Separates valid items from errors; ignores the items after very many errors. */
function separate(sent: readonly Sent[], faultsOf: (each: Sent) => readonly Detail[]) {
  const details: Detail[] = [];
  const valid = sent.filter(each => {
    if (details.length >= MAX.details) return false;
    const faults = faultsOf(each);
    details.push(...faults);
    return faults.length === 0;
  });
  return { valid, details };
}

/** Validates items that count only together. @throws Refused with the first errors */
function readEach(schema: z.ZodMiniType, sent: readonly Sent[]): void {
  const { details } = separate(sent, ({ value, loc }) => check(schema, value, loc).details);
  if (details.length > 0) throw new Refused(422, details);
}

/** The fields of a `tool_req` that differ from the published call. Missing arguments count as empty. */
function differences(call: PendingCall, answer: SettledCall): [field: string, sent: unknown][] {
  const { tool_name, args } = answer.tool_req;
  return [
    ...(call.tool_name === tool_name ? [] : [['tool_name', tool_name] as [string, unknown]]),
    ...(isEqual(call.args ?? {}, args ?? {}) ? [] : [['args', args] as [string, unknown]]),
  ];
}

/** Posted results: those that apply, and what is wrong. */
class PostedResults {
  readonly settles: Session['settled'][number][] = [];
  /** Errors of refused results. */
  readonly details: Detail[] = [];
  /** Warnings about accepted results; `key` is that of the call. */
  readonly warnings: { message: string; key?: string }[] = [];

  constructor(private readonly session: Session) {}

  /** Finds the call of a valid result. */
  add({ value, loc }: Sent): void {
    const answer = value as SettledCall;
    const { pending, settled, script } = this.session;
    const { id = null } = answer.tool_req;
    const isIt = (call: PendingCall) =>
      call.id === id && (id !== null || differences(call, answer).length === 0);
    const open = pending.find(call => isIt(call) && !this.settles.some(each => each.call === call));
    const known = open ?? [...pending, ...settled.map(({ call }) => call)].find(isIt);
    if (open) this.#accept(open, answer, loc);
    else if (!known) this.#refuse(loc, 'id', 'unknown_tool_req', 'No call with this tool_req is pending', id);
    else if (script.switches.settled === 422)
      this.#refuse(loc, 'id', 'settled_tool_req', 'This call has its answer already', id);
    else
      this.warnings.push({ key: known.key, message: 'the call was answered again; the first answer counts' });
  }

  #accept(call: PendingCall, answer: SettledCall, loc: Path): void {
    const different = differences(call, answer);
    if (different.length > 0 && this.session.script.switches.tool_req === 'exact') {
      for (const [field, input] of different)
        this.#refuse(loc, field, 'tool_req_mismatch', 'Input should be echoed as it was pending', input);
      return;
    }
    this.settles.push({ call, answer });
    const fields = different.map(([field]) => field).join(' and ');
    const message = `the tool_req of its answer differs from the call: ${fields}`;
    if (fields !== '') this.warnings.push({ key: call.key, message });
  }

  #refuse(loc: Path, field: string, type: string, message: string, input: unknown): void {
    this.details.push(detail(type, [...loc, 'tool_req', field], message, input));
  }
}

interface About {
  readonly thread?: string;
  readonly calls?: string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request to the API: read, and logged with its response, without the key (threats, row 25). */
export class ApiRequest {
  #recorded: ServedRequest | undefined;

  constructor(
    private readonly log: Log,
    private readonly purpose: RequestEvent['purpose'],
    readonly incoming: Incoming,
    readonly body: Uint8Array,
    readonly session: Session | undefined,
    private readonly onRefused: (status: number, reason: string) => void,
  ) {}

  /** Runs a handler; refuses the request if the handler cannot read it. */
  async handledBy(respond: (request: ApiRequest) => Reply | Promise<Reply>): Promise<Reply> {
    try {
      return await respond(this);
    } catch (error) {
      if (error instanceof Refused) return this.refuse(error.status, error.why);
      throw error;
    }
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
    if (value === undefined) return recorded.answer(status);
    const body = exactJson(value);
    const headers = { ...about.headers, 'Content-Type': 'application/json' };
    return recorded.answer(status, { headers, body }, { body: new Content(Buffer.from(body)) });
  }

  /** Responds with an error, which the verification reports. */
  refuse(status: number, why: string | readonly Detail[], about?: About): Answer {
    const detail = typeof why === 'string' ? why : why.slice(0, MAX.details);
    const [first] = why;
    this.onRefused(status, typeof first === 'object' ? `${first.loc.join('.')}: ${first.msg}` : String(why));
    return this.answer(status, status === 401 ? { message: detail } : { detail }, about);
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
    const query = this.#query(z.object({ page: count(1, 1), size: count(limits.size, 1) }));
    const { page } = query;
    const size = Math.min(query.size, limits.max);
    const items = all.slice((page - 1) * size, page * size).map(view);
    return this.answer(200, { items, page, total: all.length });
  }

  /** The query of a long poll. */
  changes(): z.output<typeof changesQuery> {
    return this.#query(changesQuery);
  }

  /** Reads a request to create a session. Tools in `overrides` replace the agent's own. Body and media type are optional. */
  creation(): { readonly tools?: readonly SessionTool[] | undefined; readonly request?: unknown } {
    const { headers } = this.incoming;
    if (this.body.length === 0 && headers['content-type'] === undefined) return {};
    const { value: request } = this.#object();
    read(creationSchema, request, ['body']);
    // as they were sent: the schema's copy would lose a key named `__proto__` (threats, row 19)
    const toolsAt = (...path: string[]) => {
      const tools = valueAt(request, ...path);
      if (Array.isArray(tools)) readEach(toolSchema, itemsAt(['body', ...path], tools));
      return tools as readonly SessionTool[] | undefined;
    };
    const agentTools = toolsAt('agent', 'tools');
    return { tools: toolsAt('overrides', 'agent.tools') ?? agentTools, request };
  }

  /** Reads one message, or a batch of them. */
  messages({ isOver }: Session): readonly string[] {
    const { value } = this.#object();
    const sent =
      value['type'] === 'batch'
        ? itemsAt(['body', 'messages'], read(messagesSchema, value, ['body']).messages)
        : [{ value, loc: ['body'] }];
    readEach(messageSchema, sent);
    if (isOver) throw new Refused(409, FINISHED);
    return sent.map(each => (each.value as z.output<typeof messageSchema>).message);
  }

  /**
   * Reads one settled call, or a batch of them (seed 001). Checks in this order: format 422, finished session 409, unknown `tool_req.id`
   * 422. Nothing of a refused body is applied, unless the script has `batch: each`.
   */
  results(session: Session): PostedResults {
    const { value: body, notes } = this.#object();
    const results = new PostedResults(session);
    const { details, warnings } = results;
    const isAtomic = session.script.switches.batch === 'atomic';
    const { valid, details: faults } = separate(itemsIn(body), faultsOfResult);
    details.push(...faults);
    if (details.length > 0 && (isAtomic || session.isOver)) throw new Refused(422, details);
    if (session.isOver) throw new Refused(409, FINISHED);
    for (const message of notes) warnings.push({ message });
    if (valid.length + details.length === 0) warnings.push({ message: 'the batch of results is empty' });
    for (const each of valid) results.add(each);
    if (details.length > 0 && isAtomic) throw new Refused(422, details);
    return results;
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

  /** The body, which must be a JSON object. @throws Refused */
  #object(): { readonly value: Readonly<Record<string, unknown>>; readonly notes: readonly string[] } {
    const json = readJson(this.body);
    if (!json.ok)
      throw new Refused(422, [detail('json_invalid', ['body'], `JSON decode error: ${json.reason}`, {})]);
    const { value, notes } = json;
    if (!isRecord(value)) throw new Refused(422, [wrongType('object', ['body'], value)]);
    return { value, notes };
  }

  #query<Schema extends z.ZodMiniType>(schema: Schema): z.output<Schema> {
    const [, query = ''] = this.incoming.target.split(/\?(.*)/s);
    return read(schema, Object.fromEntries(new URLSearchParams(query)), ['query']);
  }
}

const FINISHED = 'Session has already finished.';

function itemsIn(body: Readonly<Record<string, unknown>>): readonly Sent[] {
  const { type, kind } = body;
  if (type !== 'batch' && (kind !== undefined || type === undefined)) return [{ value: body, loc: ['body'] }];
  return itemsAt(['body', 'results'], read(resultsSchema, body, ['body']).results);
}

function itemsAt(loc: Path, values: readonly unknown[]): readonly Sent[] {
  return values.map((value, index) => ({ value, loc: [...loc, index] }));
}
