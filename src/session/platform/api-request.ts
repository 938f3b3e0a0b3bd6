import * as z from 'zod/mini';
import { Content } from '../../events/content.js';
import type { RequestEvent } from '../../events/events.js';
import { type Log, recordRequest } from '../../events/log.js';
import { isEqual } from '../../fixtures/pattern.js';
import { declaredTools, type SessionTool } from '../../fixtures/session-script.js';
import { hasBody } from '../../http/body.js';
import type { Answer, Incoming, Reply } from '../../http/route.js';
import { errorEventSchema, type SettledCall, sessionResultSchema } from '../../protocol/session.js';
import { sentence, WORDLESS } from '../../protocol/validate.js';
import { readJson } from '../../util/json.js';
import { redactHeaders, safeJson } from '../../util/redact.js';
import { mediaTypeOf } from '../../util/url.js';
import { isRecord, valueAt } from '../../util/values.js';
import type { PendingCall, Session, Settled } from './session.js';

type Path = readonly (string | number)[];

type Fields = Readonly<Record<string, unknown>>;

/** One error in a request, in the platform's format: what, where, and the value (platforms). */
interface Detail {
  readonly type: string;
  readonly loc: Path;
  readonly msg: string;
  readonly input: unknown;
}

type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly details: readonly Detail[] };

/** Maximum length of quoted JSON, in characters. */
const MAX_INPUT = 200;

function detail(type: string, loc: Path, msg: string, input: unknown): Detail {
  const json = safeJson(input ?? null);
  return { type, loc, msg, input: json.length <= MAX_INPUT ? input : `${json.slice(0, MAX_INPUT)}…` };
}

/** The message of the first error. */
function reasonOf(details: string | readonly Detail[]): string {
  if (typeof details === 'string') return details;
  const [first] = details;
  return first ? `${first.loc.join('.')}: ${first.msg}` : '';
}

/** Reads a body that must be a JSON object. */
function readObject(body: Uint8Array): Reading<Fields> & { readonly notes?: readonly string[] } {
  const json = readJson(body);
  if (!json.ok) return wrong(detail('json_invalid', ['body'], `JSON decode error: ${json.reason}`, {}));
  const { value, notes } = json;
  return isRecord(value) ? { ok: true, value, notes } : wrong(wrongType('object', ['body'], value));
}

function wrong(...details: readonly Detail[]): {
  readonly ok: false;
  readonly details: readonly Detail[];
} {
  return { ok: false, details };
}

/** Validates an untrusted value. @param loc its path in the request */
function read<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  loc: Path,
): Reading<z.output<Schema>> {
  const parsed = schema.safeParse(value, { reportInput: true, error: () => WORDLESS });
  if (parsed.success) return { ok: true, value: parsed.data };
  return wrong(...parsed.error.issues.map(issue => detailOf(issue, loc)));
}

function detailOf(issue: z.core.$ZodIssue, loc: Path): Detail {
  const at = [...loc, ...issue.path.map(key => (typeof key === 'symbol' ? String(key) : key))];
  if (issue.input === undefined) return missing(at);
  if (issue.code === 'invalid_type') return wrongType(issue.expected, at, issue.input);
  if (issue.code === 'invalid_value') return notOneOf(issue.values, at, issue.input);
  return detail('value_error', at, `Input ${sentence(issue)}`, issue.input);
}

function missing(loc: Path): Detail {
  return detail('missing', loc, 'Field required', null);
}

function notOneOf(values: readonly unknown[], loc: Path, input: unknown): Detail {
  const quoted = values.map(value => (typeof value === 'string' ? `'${value}'` : String(value)));
  return detail('literal_error', loc, `Input should be ${quoted.join(' or ')}`, input);
}

/** The platform's names of types whose names in zod differ. */
const TYPES: Readonly<Record<string, string>> = { object: 'dict', record: 'dict', array: 'list' };

function wrongType(expected: string, loc: Path, input: unknown): Detail {
  const type = TYPES[expected] ?? expected;
  return detail(`${type}_type`, loc, `Input should be a valid ${type}`, input);
}

const count = (preset: number, min = 0) =>
  z._default(z.coerce.number().check(z.int(), z.minimum(min)), preset);

const changesQuery = z.object({
  from_index: count(0),
  limit: count(Number.MAX_SAFE_INTEGER, 1),
  include_events: z._default(z.stringbool(), true),
  wait_for_seconds: z._default(z.coerce.number().check(z.minimum(0)), 0),
});

const toolsSchema = z.array(
  z.object({
    name: z.string(),
    description: z.optional(z.string()),
    input_schema: z.optional(z.record(z.string(), z.unknown())),
  }),
);

const creationSchema = z.object({
  agent: z.optional(z.union([z.string(), z.object({ tools: z.optional(toolsSchema) })])),
  overrides: z.optional(z.object({ 'agent.tools': z.optional(toolsSchema) })),
});

const messageSchema = z.object({ type: z.literal('user_message'), message: z.string() });

const batchSchema = z.object({ type: z.literal('batch'), messages: z.array(messageSchema) });

interface About {
  readonly thread?: string;
  readonly calls?: string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request to the API: read, and logged with its response, without the key (threats, row 25). */
export class ApiRequest {
  #recorded: ReturnType<typeof recordRequest> | undefined;

  constructor(
    private readonly log: Log,
    private readonly purpose: RequestEvent['purpose'],
    readonly incoming: Incoming,
    readonly session: Session | undefined,
    private readonly onRefused: (status: number, reason: string) => void,
  ) {}

  /** Logs the request once: with its response, unless called before. */
  record({ thread = this.session?.id, calls }: About = {}) {
    const { method, target: url, headers, body } = this.incoming;
    this.#recorded ??= recordRequest(this.log, {
      from: 'client',
      to: 'platform',
      purpose: this.purpose,
      dialect: 'session',
      method,
      url,
      headers: redactHeaders(
        Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      ),
      thread,
      calls,
      body: body.length > 0 ? new Content(body) : undefined,
    });
    return this.#recorded;
  }

  /** @param value JSON; undefined for an empty body */
  answer(status: number, value?: unknown, about: About = {}): Answer {
    const recorded = this.record(about);
    if (value === undefined) {
      recorded.answered(status);
      return { status };
    }
    const body = JSON.stringify(value);
    recorded.answered(status, { body: new Content(Buffer.from(body)) });
    return { status, headers: { ...about.headers, 'Content-Type': 'application/json' }, body };
  }

  /** Responds with an error that the verification reports. */
  refuse(status: number, why: string | readonly Detail[], body: object = { detail: why }): Answer {
    this.onRefused(status, reasonOf(why));
    return this.answer(status, body);
  }

  /** Records that the client disconnected. */
  gone(): Reply {
    this.record().broken('answer', 'ECONNRESET');
    return 'reset';
  }

  /** Answers with one page of a list. @param limits default and maximum page size */
  answerPage<T>(
    all: readonly T[],
    limits: { readonly size: number; readonly max: number },
    view: (each: T) => unknown = each => each,
  ): Answer {
    const query = this.#query(z.object({ page: count(1, 1), size: count(limits.size, 1) }));
    if (!query.ok) return this.answer(422, { detail: query.details });
    const { page } = query.value;
    const size = Math.min(query.value.size, limits.max);
    const items = all.slice((page - 1) * size, page * size).map(view);
    return this.answer(200, { items, page, total: all.length });
  }

  /** The query of a long poll. */
  changes(): Reading<z.output<typeof changesQuery>> {
    return this.#query(changesQuery);
  }

  /** Reads a request to create a session. Tools in `overrides` replace the agent's own. Body and media type are optional. */
  creation(): Reading<{ readonly tools: readonly SessionTool[] | undefined; readonly written: unknown }> {
    const { body, headers } = this.incoming;
    if (body.length === 0 && headers['content-type'] === undefined)
      return { ok: true, value: { tools: undefined, written: {} } };
    const object = readObject(body);
    if (!object.ok) return object;
    const written = object.value;
    const request = read(creationSchema, written, ['body']);
    if (!request.ok) return request;
    const { agent, overrides } = request.value;
    const overriding = overrides?.['agent.tools'];
    const own = typeof agent === 'object' ? agent.tools : undefined;
    const tools = overriding
      ? declaredTools(overriding, valueAt(written, 'overrides', 'agent.tools'))
      : own && declaredTools(own, valueAt(written, 'agent', 'tools'));
    return { ok: true, value: { tools, written } };
  }

  /** Reads one message, or a batch of them (platforms). */
  messages(): Reading<readonly string[]> {
    const object = readObject(this.incoming.body);
    if (!object.ok) return object;
    const messages =
      object.value['type'] === 'batch'
        ? read(batchSchema, object.value, ['body'])
        : read(messageSchema, object.value, ['body']);
    if (!messages.ok) return messages;
    const all = messages.value.type === 'batch' ? messages.value.messages : [messages.value];
    return { ok: true, value: all.map(({ message }) => message) };
  }

  /** Refuses a media type other than JSON. */
  refuseMediaType(accepts?: 'json' | 'json?'): Answer | undefined {
    const { headers } = this.incoming;
    const { 'content-type': type } = headers;
    const isBare = accepts === 'json?' && type === undefined && !hasBody({ headers });
    if (!accepts || isBare || mediaTypeOf(type ?? '') === 'application/json') return undefined;
    const loc = ['header', 'Content-Type'];
    return this.refuse(422, [
      detail('content_type', loc, "Input should be 'application/json'", type ?? null),
    ]);
  }

  /** Refuses an `Idempotency-Key` that was used with another body. */
  refuseKey(key: unknown): Answer {
    const loc = ['header', 'Idempotency-Key'];
    return this.refuse(422, [
      detail('idempotency_key_reused', loc, 'This key was used with another body', key),
    ]);
  }

  #query<Schema extends z.ZodMiniType>(schema: Schema): Reading<z.output<Schema>> {
    const [, query = ''] = this.incoming.target.split(/\?(.*)/s);
    return read(schema, Object.fromEntries(new URLSearchParams(query)), ['query']);
  }
}

/** The response to posted tool results, and the results to apply. */
interface Judgement {
  readonly status: 202 | 409 | 422;
  /** Error of a refused body. */
  readonly detail?: string | readonly Detail[];
  readonly settles: readonly Settled[];
  /** Warnings about accepted results; `key` is that of the call. */
  readonly warnings: readonly { readonly message: string; readonly key?: string }[];
}

/** One settled call of a body. */
interface Item {
  readonly loc: Path;
  readonly answer: SettledCall;
  /** `tool_req.args` as sent: the schema's copy would lose a key named `__proto__` (threats, row 19). */
  readonly args: unknown;
}

const MAX_DETAILS = 100;

/**
 * Checks in this order: format 422, finished session 409, unknown `tool_req.id` 422 (platforms). Nothing of a refused body is applied,
 * unless the script has `batch: each`.
 */
export function judgeResults(session: Session, body: Uint8Array): Judgement {
  const object = readObject(body);
  const items = object.ok ? readItems(object.value) : object;
  if (!items.ok) return refusal(items.details);
  const isAtomic = session.script.switches.batch === 'atomic';
  const malformed = items.value.flatMap(item => (item.ok ? [] : item.details));
  if (malformed.length > 0 && (isAtomic || session.isOver)) return refusal(malformed);
  if (session.isOver) return { ...refusal([]), status: 409, detail: 'Session has already finished.' };
  const judge = new Judge(session);
  for (const message of object.notes ?? []) judge.warnings.push({ message });
  if (items.value.length === 0) judge.warnings.push({ message: 'the batch of results is empty' });
  for (const item of items.value) {
    if (item.ok) judge.item(item.value);
    else judge.details.push(...item.details);
  }
  const { settles, warnings, details } = judge;
  if (details.length === 0) return { status: 202, settles, warnings };
  return isAtomic ? refusal(details) : { ...refusal(details), settles, warnings };
}

function refusal(details: readonly Detail[]): Judgement {
  return { status: 422, detail: details.slice(0, MAX_DETAILS), settles: [], warnings: [] };
}

/** One settled call, or a batch of them (seed 001). */
function readItems(body: Fields): Reading<readonly Reading<Item>[]> {
  const { type, kind, results } = body;
  if (type === 'batch') {
    const loc = ['body', 'results'];
    if (results === undefined) return wrong(missing(loc));
    if (!Array.isArray(results)) return wrong(wrongType('array', loc, results));
    return { ok: true, value: results.map((each, index) => readItem(each, [...loc, index])) };
  }
  if (kind === undefined && type !== undefined) return wrong(notOneOf(['batch'], ['body', 'type'], type));
  return { ok: true, value: [readItem(body, ['body'])] };
}

const kindSchema = z.object({ kind: z.enum(['tool_result', 'error_event']) });

function readItem(value: unknown, loc: Path): Reading<Item> {
  const form = read(kindSchema, value, loc); // first, because an unknown kind has no other fields
  if (!form.ok) return form;
  const schema = form.value.kind === 'tool_result' ? sessionResultSchema : errorEventSchema;
  const answer = read(schema, value, loc);
  return answer.ok
    ? { ok: true, value: { loc, answer: answer.value, args: valueAt(value, 'tool_req', 'args') } }
    : answer;
}

/** Finds the call of each item, and collects the results and warnings. */
class Judge {
  readonly settles: Settled[] = [];
  readonly details: Detail[] = [];
  readonly warnings: { message: string; key?: string }[] = [];

  constructor(private readonly session: Session) {}

  item(item: Item): void {
    const { pending, settled, script } = this.session;
    const { id = null } = item.answer.tool_req;
    const isIt = (call: PendingCall) =>
      call.id === id && (id !== null || differences(call, item).length === 0);
    const open = pending.find(call => isIt(call) && !this.settles.some(each => each.call === call));
    const known = open ?? [...pending, ...settled.map(({ call }) => call)].find(isIt);
    if (open) this.#accept(open, item);
    else if (!known)
      this.#refuse(item, 'id', 'unknown_tool_req', 'No call with this tool_req is pending', id);
    else if (script.switches.settled === 422)
      this.#refuse(item, 'id', 'settled_tool_req', 'This call has its answer already', id);
    else
      this.warnings.push({ key: known.key, message: 'the call was answered again; the first answer counts' });
  }

  #accept(call: PendingCall, item: Item): void {
    const different = differences(call, item);
    if (different.length > 0 && this.session.script.switches.tool_req === 'exact') {
      for (const [field, input] of different)
        this.#refuse(item, field, 'tool_req_mismatch', 'Input should be echoed as it was pending', input);
      return;
    }
    this.settles.push({ call, answer: item.answer });
    const fields = different.map(([field]) => field).join(' and ');
    if (fields !== '')
      this.warnings.push({
        key: call.key,
        message: `the tool_req of its answer differs from the call: ${fields}`,
      });
  }

  #refuse({ loc }: Item, field: string, type: string, message: string, input: unknown): void {
    this.details.push(detail(type, [...loc, 'tool_req', field], message, input ?? null));
  }
}

/** Describes the fields of a `tool_req` that differ from the published call. Missing arguments count as empty. */
function differences(call: PendingCall, { answer, args }: Item): [field: string, sent: unknown][] {
  const { tool_name } = answer.tool_req;
  return [
    ...(call.tool_name === tool_name ? [] : [['tool_name', tool_name] as [string, unknown]]),
    ...(isEqual(call.args ?? {}, args ?? {}) ? [] : [['args', args] as [string, unknown]]),
  ];
}
