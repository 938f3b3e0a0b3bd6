import type * as z from 'zod/mini';
import { isEqual } from '../../fixtures/schema/match.js';
import {
  errorEventSchema,
  isTerminal,
  type SettledCall,
  sessionResultSchema,
} from '../../protocol/callbacks.js';
import { sentence, WORDLESS } from '../../protocol/validate.js';
import type { JsonReading } from '../../util/json.js';
import { isRecord } from '../../util/json-diagnosis.js';
import { safeJson } from '../../util/redact-json.js';
import type { PendingCall, Session, Settled } from './session-state.js';

type Path = readonly (string | number)[];
type Issue = z.core.$ZodIssue;

/** One thing that is wrong with a request, as the platform tells it (platforms): what, where, and what was there. */
export interface Detail {
  readonly type: string;
  readonly loc: Path;
  readonly msg: string;
  readonly input: unknown;
}

/** Characters of JSON: a longer value is told by its beginning. */
const LONGEST_INPUT = 200;

export function detail(type: string, loc: Path, msg: string, input: unknown): Detail {
  return { type, loc, msg, input: bounded(input) };
}

/** A foreign value by a schema: what the schema knows of it, or each fault with its place below `loc`. */
export function read<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  loc: Path,
):
  | { readonly ok: true; readonly value: z.output<Schema> }
  | { readonly ok: false; readonly details: Detail[] } {
  const parsed = schema.safeParse(value, { reportInput: true, error: () => WORDLESS });
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, details: parsed.error.issues.map(issue => detailOf(issue, loc)) };
}

function detailOf(issue: Issue, loc: Path): Detail {
  const at = [...loc, ...issue.path.map(key => (typeof key === 'symbol' ? String(key) : key))];
  if (issue.input === undefined) return detail('missing', at, 'Field required', null);
  if (issue.code === 'invalid_type') {
    const [type, words] = TYPES[issue.expected] ?? [`${issue.expected}_type`, `valid ${issue.expected}`];
    return detail(type, at, `Input should be a ${words}`, issue.input);
  }
  if (issue.code === 'invalid_value')
    return detail(
      'literal_error',
      at,
      `Input should be ${issue.values.map(quoted).join(' or ')}`,
      issue.input,
    );
  return detail('value_error', at, `Input ${sentence(issue)}`, issue.input);
}

/** The platform's names for types. */
const TYPES: Readonly<Record<string, readonly [type: string, words: string]>> = {
  string: ['string_type', 'valid string'],
  object: ['dict_type', 'valid dictionary'],
  record: ['dict_type', 'valid dictionary'],
  array: ['list_type', 'valid list'],
  int: ['int_type', 'valid integer'],
  number: ['float_type', 'valid number'],
  boolean: ['bool_type', 'valid boolean'],
};

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function bounded(input: unknown): unknown {
  const json = safeJson(input ?? null);
  return json.length <= LONGEST_INPUT ? input : `${json.slice(0, LONGEST_INPUT)}…`;
}

/** Which call a `tool_req` is about; `settled`: it has its answer already. */
type Match =
  | { readonly kind: 'pending' | 'settled'; readonly call: PendingCall }
  | { readonly kind: 'unknown' };

interface Echoed {
  readonly tool_name: string;
  readonly id?: string | null | undefined;
  /** As sent. */
  readonly args: unknown;
}

/**
 * By the id; one without an id by name and arguments, the first that waits.
 * @param taken keys of pending calls that the same body has answered before
 */
function match(session: Session, echoed: Echoed, taken: ReadonlySet<string>): Match {
  const isIt = (call: PendingCall) =>
    echoed.id == null ? call.id === null && differences(call, echoed).length === 0 : call.id === echoed.id;
  const pending = session.pending.find(call => isIt(call) && !taken.has(call.key));
  if (pending) return { kind: 'pending', call: pending };
  const settled = [...session.pending, ...session.settled.map(({ call }) => call)].find(isIt);
  return settled ? { kind: 'settled', call: settled } : { kind: 'unknown' };
}

/** What of a `tool_req` is not as it was published. Arguments that are left out are none. */
function differences(call: PendingCall, echoed: Echoed): ('tool_name' | 'args')[] {
  const isNamed = call.tool_name === echoed.tool_name;
  const isSame = isEqual(call.args ?? {}, echoed.args ?? {});
  return [...(isNamed ? [] : (['tool_name'] as const)), ...(isSame ? [] : (['args'] as const))];
}

type ReadResultsPath = readonly (string | number)[];

/** One settled call of a body, or what is wrong with it. */
interface Item {
  readonly loc: ReadResultsPath;
  /** Null where it could not be read. */
  readonly answer: SettledCall | null;
  /** Of its `tool_req` as it was sent: a schema's copy would lose a key named `__proto__` (threats, row 19). */
  readonly args: unknown;
  readonly details: readonly Detail[];
}

type ResultsReading =
  | { readonly ok: true; readonly items: readonly Item[] }
  | { readonly ok: false; readonly details: readonly Detail[] };

const BODY: ReadResultsPath = ['body'];

/** A body of `tool_results`: one settled call, or a batch of them (seed 001). Never throws. */
function readResults(body: JsonReading): ResultsReading {
  if (!body.ok) return refused(detail('json_invalid', BODY, `JSON decode error: ${body.reason}`, {}));
  const { value } = body;
  if (!isRecord(value))
    return refused(detail('dict_type', BODY, 'Input should be a valid dictionary', value));
  if (value['type'] === 'batch') return readBatch(value);
  if (value['kind'] === undefined && value['type'] !== undefined)
    return refused(detail('literal_error', [...BODY, 'type'], "Input should be 'batch'", value['type']));
  return { ok: true, items: [readItem(value, BODY)] };
}

function readBatch({ results }: Readonly<Record<string, unknown>>): ResultsReading {
  const loc = [...BODY, 'results'];
  if (results === undefined) return refused(detail('missing', loc, 'Field required', null));
  if (!Array.isArray(results))
    return refused(detail('list_type', loc, 'Input should be a valid list', results));
  return { ok: true, items: results.map((each, index) => readItem(each, [...loc, index])) };
}

function readItem(value: unknown, loc: ReadResultsPath): Item {
  const unread = (...details: Detail[]) => ({ loc, answer: null, args: undefined, details });
  if (!isRecord(value)) return unread(detail('dict_type', loc, 'Input should be a valid dictionary', value));
  const { kind, tool_req } = value;
  if (kind === undefined) return unread(detail('missing', [...loc, 'kind'], 'Field required', null));
  const schema =
    kind === 'tool_result' ? sessionResultSchema : kind === 'error_event' ? errorEventSchema : null;
  if (!schema) return unread(detail('literal_error', [...loc, 'kind'], KINDS, kind));
  const settled = read(schema, value, loc);
  if (!settled.ok) return unread(...settled.details);
  return { loc, answer: settled.value, args: isRecord(tool_req) ? tool_req['args'] : undefined, details: [] };
}

const KINDS = "Input should be 'tool_result' or 'error_event'";

function refused(...details: Detail[]): ResultsReading {
  return { ok: false, details };
}

/** What a post of tool results is answered, and what of it is applied. */
export interface Judgement {
  readonly status: 202 | 404 | 409 | 422;
  /** Of anything but a 202, whose body is empty. */
  readonly detail?: string | readonly Detail[];
  readonly settles: readonly Settled[];
  /** What is odd about it, though it is no reason to refuse it. */
  readonly warnings: readonly Warning[];
}

interface Warning {
  readonly message: string;
  /** The call it is about. */
  readonly key?: string;
}

const NOTHING = { settles: [], warnings: [] } as const;
export const NOT_FOUND = 'Session not found.';

/**
 * Judges in this order: no such session 404, format 422, finished 409, unknown `tool_req.id` 422 (platforms). Nothing of a refused
 * body is applied, unless the script's switch says `batch: each`. Who may post at all was decided before.
 */
export function judgeResults(session: Session | undefined, body: JsonReading): Judgement {
  if (!session) return { status: 404, detail: NOT_FOUND, ...NOTHING };
  const reading = readResults(body);
  if (!reading.ok) return unprocessable(reading.details);
  const malformed = reading.items.flatMap(({ details }) => details);
  const isAtomic = session.script.switches.batch === 'atomic';
  if (malformed.length > 0 && (isAtomic || isTerminal(session.phase))) return unprocessable(malformed);
  if (isTerminal(session.phase)) return { status: 409, detail: 'Session has already finished.', ...NOTHING };
  const found = judgeItems(session, reading.items);
  const warnings = [...notesOf(body), ...emptiness(reading.items), ...found.warnings];
  if (found.details.length === 0) return { status: 202, settles: found.settles, warnings };
  return isAtomic
    ? unprocessable(found.details)
    : { ...unprocessable(found.details), settles: found.settles, warnings };
}

/** So many are told. */
const MOST_DETAILS = 100;

function unprocessable(details: readonly Detail[]): Judgement {
  return { status: 422, detail: details.slice(0, MOST_DETAILS), ...NOTHING };
}

interface Found {
  readonly settles: readonly Settled[];
  readonly details: readonly Detail[];
  readonly warnings: readonly Warning[];
}

function judgeItems(session: Session, items: readonly Item[]): Found {
  const taken = new Set<string>();
  const all = items.map(item => {
    const found = judgeItem(session, item, taken);
    for (const { call } of found.settles) taken.add(call.key);
    return found;
  });
  return {
    settles: all.flatMap(({ settles }) => settles),
    details: all.flatMap(({ details }) => details),
    warnings: all.flatMap(({ warnings }) => warnings),
  };
}

function judgeItem(session: Session, item: Item, taken: ReadonlySet<string>): Found {
  const { answer, details, loc, args } = item;
  if (!answer) return { ...NOTHING, details };
  const echoed = { ...answer.tool_req, args };
  const found = match(session, echoed, taken);
  const at = [...loc, 'tool_req', 'id'];
  const id = echoed.id ?? null;
  if (found.kind === 'unknown')
    return {
      ...NOTHING,
      details: [detail('unknown_tool_req', at, 'No call with this tool_req is pending', id)],
    };
  if (found.kind === 'settled')
    return repeated(session, found.call, detail('settled_tool_req', at, SETTLED, id));
  return accepted(session, found.call, answer, { loc, echoed });
}

const SETTLED = 'This call has its answer already';

function repeated({ script }: Session, { key }: PendingCall, fault: Detail): Found {
  if (script.switches.settled === 422) return { ...NOTHING, details: [fault] };
  return {
    ...NOTHING,
    details: [],
    warnings: [{ key, message: 'it is answered again: the first answer counts' }],
  };
}

function accepted(
  { script }: Session,
  call: PendingCall,
  answer: SettledCall,
  { loc, echoed }: { readonly loc: Item['loc']; readonly echoed: Parameters<typeof differences>[1] },
): Found {
  const different = differences(call, echoed);
  const settles = [{ call, answer }];
  if (different.length === 0) return { settles, details: [], warnings: [] };
  const details = different.map(field =>
    detail(
      'tool_req_mismatch',
      [...loc, 'tool_req', field],
      'Input should be echoed as it was pending',
      echoed[field] ?? null,
    ),
  );
  if (script.switches.tool_req === 'exact') return { ...NOTHING, details };
  const message = `the tool_req of its answer is not echoed whole: ${different.join(' and ')} differ`;
  return { settles, details: [], warnings: [{ key: call.key, message }] };
}

function notesOf(body: JsonReading): Warning[] {
  return body.ok ? body.notes.map(message => ({ message })) : [];
}

function emptiness(items: readonly Item[]): Warning[] {
  return items.length === 0 ? [{ message: 'an empty batch of results answers nothing' }] : [];
}
