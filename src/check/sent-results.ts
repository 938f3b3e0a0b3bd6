import type { ToolResult } from '../protocol/callbacks.js';
import { isRecord, stringsIn } from '../util/values.js';
import type { CallbackEvidence, CallEvidence } from './call.js';
import { nameOfCall } from './driver-calls.js';
import type { Evidence } from './evidence.js';
import type { RuntimeView, Seen } from './runtime-view.js';

/**
 * What a result is for the runtime, by its ids. `awaited`: the first for a pending call; `foreign`: for a pending call, but at the
 * callback URL of another one; `further`: the call has its result; `canceled`: the call was canceled before; `closed`: its thread was;
 * `unmatched`: no call.
 */
type ResultStatus = 'awaited' | 'foreign' | 'further' | 'canceled' | 'closed' | 'unmatched';

/** A valid result that a tool sent. */
export interface SentResult {
  readonly callback: CallbackEvidence;
  readonly message: ToolResult;
  readonly status: ResultStatus;
  /** The call that its ids name; null for none. */
  readonly call: CallEvidence | null;
  /** The call at whose callback URL it came. */
  readonly sender: CallEvidence;
}

/** All results, oldest first; without those of a call that the runtime had given up. */
export function resultsIn({ calls, view }: Pick<Evidence, 'calls' | 'view'>): readonly SentResult[] {
  const settled = new Set<CallEvidence>();
  const named = new Map(calls.map(call => [nameOfCall(call.invocation), call]));
  return calls
    .flatMap(sender => sender.messages('tool_result').map(result => ({ ...result, sender })))
    .toSorted((one, other) => one.callback.request.seq - other.callback.request.seq)
    .flatMap(({ callback, message, sender }) => {
      const isAccepted = (callback.status ?? 200) < 300;
      if (callback.isUnsent || (!isAccepted && !callback.hasJsonType)) return [];
      const { seq } = callback.request;
      const call = named.get(nameOfCall(message)) ?? null;
      const status = statusOf();
      if (call && status !== 'canceled' && isGivenUp(call, view, seq)) return [];
      if (status === 'awaited' && call && isAccepted) settled.add(call);
      return [{ callback, message, status, call, sender }];

      function statusOf(): ResultStatus {
        if (!call) return 'unmatched';
        if (call.cancels.some(({ request }) => request.seq < seq)) return 'canceled';
        if (call.calledOffAt < seq) return 'closed';
        if (settled.has(call)) return 'further';
        return call === sender ? 'awaited' : 'foreign';
      }
    });
}

/** Whether the call had failed before: it was never accepted, or took too long. */
function isGivenUp(call: CallEvidence, view: RuntimeView | null, seq: number): boolean {
  const failures = view?.seenOf(call, 'failure') ?? [];
  return !call.attempts.some(({ status }) => status === 200) || failures.some(({ event }) => event.seq < seq);
}

/** Members whose texts the model or the user may see. */
const VISIBLE = ['text', 'content', 'prompt', 'auth_url'];

/** A shorter text may be a part of another one. */
const MIN_TRACE = 8;

/**
 * What the model or the user saw of a message that must have no effect. The texts of a scenario are unique.
 * @param isCounted selects observations
 */
export function tracesOf(
  view: RuntimeView,
  { request: { body } }: CallbackEvidence,
  isCounted: (seen: Seen) => boolean = () => true,
): readonly Seen[] {
  if (!body) return [];
  const texts = body.json.ok
    ? visibleIn(body.json.value)
    : quotedIn(Buffer.from(body.bytes).toString('utf8'));
  const marks = texts.filter(({ length }) => length >= MIN_TRACE);
  return view
    .seen('model', 'failure', 'question', 'view')
    .filter(each => isCounted(each) && shows(each, marks));
}

function visibleIn(message: unknown): readonly string[] {
  if (!isRecord(message)) return stringsIn(message);
  return VISIBLE.flatMap(name => stringsIn(message[name] ?? []));
}

const QUOTED = new RegExp(`"(?:${VISIBLE.join('|')})"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`, 'gs');

function quotedIn(text: string): readonly string[] {
  return [...text.matchAll(QUOTED)].map(([, quoted = '']) => quoted);
}

function shows({ message }: Seen, marks: readonly string[]): boolean {
  const { saw: _, ...rest } = message;
  const texts = stringsIn({ ...rest, id: null });
  return marks.some(mark => texts.some(text => text.includes(mark)));
}
