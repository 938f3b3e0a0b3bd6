import { isEqual } from '../../fixtures/pattern.js';
import { errorEventSchema, type SettledCall, sessionResultSchema } from '../../protocol/session.js';
import { isRecord } from '../../util/values.js';
import {
  type Detail,
  detail,
  missing,
  notOneOf,
  type Reading,
  read,
  readObject,
  wrong,
  wrongType,
} from './read-requests.js';
import type { PendingCall, Session, Settled } from './session.js';

/** How a post of tool results is answered, and what of it is applied. */
interface Judgement {
  readonly status: 202 | 409 | 422;
  /** Of a refusal. */
  readonly detail?: string | readonly Detail[];
  readonly settles: readonly Settled[];
  /** Oddities that are no reason to refuse it; `key` names the call. */
  readonly warnings: readonly { readonly message: string; readonly key?: string }[];
}

/** One settled call of a body. */
interface Item {
  readonly loc: Detail['loc'];
  readonly answer: SettledCall;
  /** `tool_req.args` as sent: the copy of a schema would lose a key named `__proto__` (threats, row 19). */
  readonly args: unknown;
}

const MAX_DETAILS = 100;

/**
 * Judges in this order: format 422, finished 409, unknown `tool_req.id` 422 (platforms). Nothing of a refused body is applied,
 * unless the script has `batch: each`.
 */
export function judgeResults(session: Session, body: Uint8Array): Judgement {
  const object = readObject(body);
  const items = object.ok ? readItems(object.value) : object;
  if (!items.ok) return refusal(items.details);
  const isAtomic = session.script.switches.batch === 'atomic';
  const malformed = items.value.flatMap(item => (item.ok ? [] : item.details));
  if (malformed.length > 0 && (isAtomic || session.isOver)) return refusal(malformed);
  if (session.isOver)
    return { status: 409, detail: 'Session has already finished.', settles: [], warnings: [] };
  const judge = new Judge(session);
  for (const message of object.notes ?? []) judge.warnings.push({ message });
  if (items.value.length === 0) judge.warnings.push({ message: 'an empty batch of results answers nothing' });
  for (const item of items.value)
    if (item.ok) judge.item(item.value);
    else judge.details.push(...item.details);
  const { settles, warnings, details } = judge;
  if (details.length === 0) return { status: 202, settles, warnings };
  return isAtomic ? refusal(details) : { ...refusal(details), settles, warnings };
}

function refusal(details: readonly Detail[]): Judgement {
  return { status: 422, detail: details.slice(0, MAX_DETAILS), settles: [], warnings: [] };
}

/** One settled call, or a batch of them (seed 001). */
function readItems(body: Readonly<Record<string, unknown>>): Reading<readonly Reading<Item>[]> {
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

function readItem(value: unknown, loc: Detail['loc']): Reading<Item> {
  if (!isRecord(value)) return wrong(wrongType('object', loc, value));
  const { kind, tool_req } = value;
  if (kind === undefined) return wrong(missing([...loc, 'kind']));
  if (kind !== 'tool_result' && kind !== 'error_event')
    return wrong(notOneOf(['tool_result', 'error_event'], [...loc, 'kind'], kind));
  const answer = read(kind === 'tool_result' ? sessionResultSchema : errorEventSchema, value, loc);
  if (!answer.ok) return answer;
  return {
    ok: true,
    value: { loc, answer: answer.value, args: isRecord(tool_req) ? tool_req['args'] : undefined },
  };
}

/** Finds the call of each item, and collects what follows. */
class Judge {
  readonly settles: Settled[] = [];
  readonly details: Detail[] = [];
  readonly warnings: { message: string; key?: string }[] = [];

  constructor(private readonly session: Session) {}

  item(item: Item): void {
    const { pending, settled, script } = this.session;
    const { tool_req } = item.answer;
    const isIt = (call: PendingCall) =>
      tool_req.id == null
        ? call.id === null && differences(call, item).length === 0
        : call.id === tool_req.id;
    const open = pending.find(call => isIt(call) && !this.settles.some(each => each.call === call));
    const known = open ?? [...pending, ...settled.map(({ call }) => call)].find(isIt);
    const fault = (type: string, message: string) =>
      void this.details.push(detail(type, [...item.loc, 'tool_req', 'id'], message, tool_req.id ?? null));
    if (open) this.#accept(open, item);
    else if (!known) fault('unknown_tool_req', 'No call with this tool_req is pending');
    else if (script.switches.settled === 422) fault('settled_tool_req', 'This call has its answer already');
    else this.warnings.push({ key: known.key, message: 'it is answered again: the first answer counts' });
  }

  #accept(call: PendingCall, item: Item): void {
    const different = differences(call, item);
    if (different.length > 0 && this.session.script.switches.tool_req === 'exact') {
      for (const [field, input] of different)
        this.details.push(
          detail(
            'tool_req_mismatch',
            [...item.loc, 'tool_req', field],
            'Input should be echoed as it was pending',
            input ?? null,
          ),
        );
      return;
    }
    this.settles.push({ call, answer: item.answer });
    const fields = different.map(([field]) => field).join(' and ');
    if (fields !== '')
      this.warnings.push({
        key: call.key,
        message: `the tool_req of its answer is not echoed whole: ${fields} differ`,
      });
  }
}

/** Which fields of a `tool_req` are not as published. Missing arguments count as empty. */
function differences(
  call: PendingCall,
  { answer, args }: Item,
): [field: 'tool_name' | 'args', sent: unknown][] {
  const { tool_name } = answer.tool_req;
  return [
    ...(call.tool_name === tool_name ? [] : [['tool_name', tool_name] as ['tool_name', unknown]]),
    ...(isEqual(call.args ?? {}, args ?? {}) ? [] : [['args', args] as ['args', unknown]]),
  ];
}
