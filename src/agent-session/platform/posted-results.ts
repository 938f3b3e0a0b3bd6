import * as z from 'zod/mini';
import { isEqual } from '../../fixtures/pattern.js';
import type { SessionSwitches } from '../../fixtures/session-script-types.js';
import { errorEventSchema, type SettledCall } from '../../protocol/session.js';
import type { AnsweredCall, PendingCall } from './pending-call.js';
import { type Detail, detail, type Path, Refused } from './request-errors.js';
import { SCHEMAS } from './request-schemas.js';
import type { Session } from './session.js';
import { itemsAt, readAt, type Sent, separateValid, validateAt } from './validate-request.js';

const kindSchema = z.object({ kind: z.enum(['tool_result', 'error_event']) });

function faultsOfResult({ value, loc }: Sent, requests: SessionSwitches['requests']): readonly Detail[] {
  const { data, details } = validateAt(kindSchema, value, loc); // first, because an unknown kind has no other fields
  if (!data) return details;
  return validateAt(data.kind === 'tool_result' ? SCHEMAS[requests].result : errorEventSchema, value, loc)
    .details;
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
export class PostedResults {
  readonly settles: AnsweredCall[] = [];
  /** Errors of refused results. */
  readonly details: Detail[] = [];
  /** Warnings about accepted results; `key` is that of the call. */
  readonly warnings: { message: string; key?: string }[] = [];

  private constructor(private readonly session: Session) {}

  /**
   * Reads one settled call, or a batch of them (seed 001). Checks in this order: format 422, finished session 409, unknown `tool_req.id`
   * 422. Nothing of a refused body is applied, unless the script has `batch: each`.
   * @param notes about the JSON of the body
   * @throws Refused
   */
  static read(
    session: Session,
    body: Readonly<Record<string, unknown>>,
    notes: readonly string[],
  ): PostedResults {
    const results = new PostedResults(session);
    const { details, warnings } = results;
    const { batch, requests } = session.script.switches;
    const isAtomic = batch === 'atomic';
    const { valid, details: faults } = separateValid(itemsIn(body, session), sent =>
      faultsOfResult(sent, requests),
    );
    details.push(...faults);
    if (details.length > 0 && (isAtomic || session.isOver)) throw new Refused(422, details);
    if (session.isOver) throw new Refused(409, FINISHED);
    for (const message of notes) warnings.push({ message });
    if (valid.length + details.length === 0) warnings.push({ message: 'the batch of results is empty' });
    for (const each of valid) results.#add(each);
    if (details.length > 0 && isAtomic) throw new Refused(422, details);
    return results;
  }

  /** Finds the call of a valid result. */
  #add({ value, loc }: Sent): void {
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

export const FINISHED = 'Session has already finished.';

function itemsIn(body: Readonly<Record<string, unknown>>, { script }: Session): readonly Sent[] {
  const { type, kind, results } = body;
  const isBatch = type === 'batch' || (kind === undefined && (type !== undefined || results !== undefined));
  if (!isBatch) return [{ value: body, loc: ['body'] }];
  return itemsAt(
    ['body', 'results'],
    readAt(SCHEMAS[script.switches.requests].results, body, ['body']).results,
  );
}
