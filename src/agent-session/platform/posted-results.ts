import * as z from 'zod/mini';
import { isEqual } from '../../fixtures/pattern.js';
import type { SessionScript, SessionSwitches } from '../../fixtures/session-script-types.js';
import { errorEventSchema, type SettledCall } from '../../protocol/session.js';
import type { AnsweredCall, PendingCall } from './pending-call.js';
import { readObject } from './read-request.js';
import { type Detail, detail, FINISHED, type Path, Refused } from './request-errors.js';
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
export interface PostedResults {
  readonly settles: readonly AnsweredCall[];
  /** Errors of refused results. */
  readonly details: readonly Detail[];
  /** Warnings about accepted results. */
  readonly warnings: readonly ResultWarning[];
}

interface ResultWarning {
  readonly message: string;
  /** Of the call. */
  readonly key?: string;
}

/**
 * Reads one settled call, or a batch of them (seed 001). Checks in this order: format 422, finished session 409, unknown `tool_req.id`
 * 422. Nothing of a refused body is applied, unless the script has `batch: each`.
 * @throws Refused
 */
export function readResults(bytes: Uint8Array, session: Session): PostedResults {
  const { value: body, notes } = readObject(bytes);
  const { batch, requests } = session.script.switches;
  const isAtomic = batch === 'atomic';
  const { valid, details: faults } = separateValid(itemsIn(body, session), sent =>
    faultsOfResult(sent, requests),
  );
  if (faults.length > 0 && (isAtomic || session.isOver)) throw new Refused(422, faults);
  if (session.isOver) throw new Refused(409, FINISHED);
  const results = readEach(valid, session);
  const details = [...faults, ...results.flatMap(result => result.details ?? [])];
  if (details.length > 0 && isAtomic) throw new Refused(422, details);
  const empty = valid.length + faults.length === 0 ? ['the batch of results is empty'] : [];
  const ofBody = [...notes, ...empty].map(message => ({ message }));
  return {
    settles: results.flatMap(({ settles }) => settles ?? []),
    details,
    warnings: [...ofBody, ...results.flatMap(({ warning }) => warning ?? [])],
  };
}

/** What becomes of a valid result: it settles a call or is refused, or only a warning says that it came. */
interface ReadResult {
  readonly settles?: AnsweredCall;
  readonly details?: readonly Detail[];
  readonly warning?: ResultWarning;
}

/** Finds the calls of valid results. The first result for a call settles it. */
function readEach(valid: readonly Sent[], session: Session): readonly ReadResult[] {
  const taken = new Set<PendingCall>();
  return valid.map(sent => {
    const result = readResult(sent, session, taken);
    if (result.settles) taken.add(result.settles.call);
    return result;
  });
}

/** @param taken the calls that earlier results of the batch settle */
function readResult({ value, loc }: Sent, session: Session, taken: ReadonlySet<PendingCall>): ReadResult {
  const answer = value as SettledCall;
  const { pending, settled, script } = session;
  const { id = null } = answer.tool_req;
  const matches = (call: PendingCall) =>
    call.id === id && (id !== null || differences(call, answer).length === 0);
  const open = pending.find(call => matches(call) && !taken.has(call));
  if (open) return settleOrRefuse(open, answer, loc, script);
  const known = [...pending, ...settled.map(({ call }) => call)].find(matches);
  const at = [...loc, 'tool_req', 'id'];
  if (!known)
    return { details: [detail('unknown_tool_req', at, 'No call with this tool_req is pending', id)] };
  if (script.switches.settled === 422)
    return { details: [detail('settled_tool_req', at, 'This call has its answer already', id)] };
  return { warning: { key: known.key, message: 'the call was answered again; the first answer counts' } };
}

/** Where `tool_req` differs from the pending call, the script decides: the result is refused, or there is a warning. */
function settleOrRefuse(
  call: PendingCall,
  answer: SettledCall,
  loc: Path,
  { switches }: SessionScript,
): ReadResult {
  const different = differences(call, answer);
  if (different.length === 0) return { settles: { call, answer } };
  if (switches.tool_req === 'exact') {
    const message = 'Input should be echoed as it was pending';
    const detailOf = (field: string, input: unknown) =>
      detail('tool_req_mismatch', [...loc, 'tool_req', field], message, input);
    return { details: different.map(([field, input]) => detailOf(field, input)) };
  }
  const fields = different.map(([field]) => field).join(' and ');
  const message = `the tool_req of its answer differs from the call: ${fields}`;
  return { settles: { call, answer }, warning: { key: call.key, message } };
}

function itemsIn(body: Readonly<Record<string, unknown>>, { script }: Session): readonly Sent[] {
  const { type, kind, results } = body;
  const isBatch = type === 'batch' || (kind === undefined && (type !== undefined || results !== undefined));
  if (!isBatch) return [{ value: body, loc: ['body'] }];
  return itemsAt(
    ['body', 'results'],
    readAt(SCHEMAS[script.switches.requests].results, body, ['body']).results,
  );
}
