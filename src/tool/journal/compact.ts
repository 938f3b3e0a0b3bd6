import type { Turn } from '../../exchange/facts.js';
import { typeOf } from '../delivery/callback.js';
import { checkedLine, JOURNAL_FORMAT } from './journal-format.js';
import { JournalWriter } from './journal-writer.js';
import { isLast } from './open-call.js';
import type { Recovered, Recovery, Rendered } from './recovery.js';

/** Who writes the file, and since when (RFC 3339, UTC). */
export interface Writing {
  readonly startedAt: string;
  readonly program: string;
}

/** The lines a journal begins with: what the runs before left, and nothing that is over. Read again they give the same recovery. */
export function* compacted(
  { calls, matched, settled }: Recovery,
  { startedAt, program }: Writing,
): Generator<string> {
  yield checkedLine({ kind: 'header', format: JOURNAL_FORMAT, startedAt, program });
  for (const one of settled) yield checkedLine({ kind: 'settled', ...one });
  const writer = new JournalWriter();
  for (const call of calls) yield* callLines(call, writer);
  for (const fact of matched) yield checkedLine(fact); // after the calls: their order is that of the states
  yield checkedLine({ kind: 'begun' });
}

/** Its place and time are those of a run that is over: nobody reads them. */
const STAMP = { seq: 0, at: 0 };

interface About {
  readonly calls: string[];
  readonly thread: string;
  readonly seq: number;
  readonly at: number;
}

type OfLeg = About & { readonly leg: string };

function* callLines(call: Recovered, writer: JournalWriter): Generator<string> {
  const { key, thread, invocation, headers, matched, refusal, rendered, turn, isAnswered, calledOff } = call;
  const about = { calls: [key], thread, ...STAMP };
  yield writer.event({
    kind: 'request',
    leg: 'received',
    from: 'runtime',
    to: 'tool',
    purpose: 'invocation',
    method: 'POST',
    url: '',
    headers: { ...headers },
    attempt: 1,
    body: invocation,
    ...about,
  });
  if (refusal !== null) yield checkedLine({ kind: 'warned', message: refusal, ...about });
  if (matched) yield checkedLine(matched);
  const posted = rendered.map((one, index) => ({ one, about: { ...about, leg: `posted${index}` } }));
  const isResultLost = isAnswered && !rendered.some(({ body }) => isLast(typeOf(body)));
  if (isResultLost) yield lost('tool_result', { index: 0, next: [0] }, about);
  for (const { one, about } of posted) yield requestLines(one, about, writer);
  for (const { one, about } of posted) yield* fateLine(one, about); // once all are known: one alone may end its call
  if (turn && rendered.at(-1)?.turn.index !== turn.index) yield lost('view_update', turn, about);
  if (calledOff !== null)
    yield checkedLine({ kind: 'decided', what: 'cancel', by: 'policy', value: calledOff, ...about });
}

/** A message that was not posted, and never will be. */
function lost(type: string, turn: Turn, about: About): string {
  return checkedLine({ kind: 'planned', by: 'fault', plan: 'drop', type, turn, ...about });
}

function requestLines(one: Rendered, about: OfLeg, writer: JournalWriter): string {
  const { url, body, contentType, turn } = one;
  const headers = { 'content-type': contentType };
  const wire = { from: 'tool', to: 'runtime', purpose: 'callback', method: 'POST' } as const;
  return writer.event({ kind: 'request', ...wire, url, headers, attempt: 1, body, turn, ...about });
}

function* fateLine({ state }: Rendered, about: OfLeg): Generator<string> {
  if (state === 'delivered') yield checkedLine({ kind: 'response', status: 200, headers: {}, ...about });
  if (state === 'dropped')
    yield checkedLine({ kind: 'dropped', what: 'callback', why: '', count: 1, ...about });
}
