import { isTerminal } from '../../../protocol/session/status.js';
import type { SettledCall } from '../../../protocol/session/tool-results.js';
import type { JsonReading } from '../../../text/json.js';
import type { PendingCall, Session, Settled } from '../state/session.js';
import { type Detail, detail } from './detail.js';
import { differences, match } from './match.js';
import { type Item, readResults } from './read-results.js';

/** What a post of tool results is answered, and what of it is applied. */
export interface Judgement {
  readonly status: 202 | 404 | 409 | 422;
  /** Of anything but a 202, whose body is empty. */
  readonly detail?: string | readonly Detail[];
  readonly settles: readonly Settled[];
  /** What is odd about it, though it is no reason to refuse it. */
  readonly warnings: readonly Warning[];
}

export interface Warning {
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
