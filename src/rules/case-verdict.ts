import { chooseSegment } from '../display/choose.js';
import { knownTypes } from '../display/segments/index.js';
import type { Case, CaseResult } from '../fixtures/cases/case.js';
import type { Difference } from '../fixtures/matching/pattern.js';
import { wantedText } from '../fixtures/matching/wanted.js';
import { outcomeOfText } from '../outcome/conventions.js';
import type { ToolResult } from '../protocol/callbacks/index.js';
import { llmText } from '../protocol/llm-text.js';
import { firstOf } from '../text/first-few.js';
import { formatDuration } from '../text/format-duration.js';
import { parseJson } from '../text/json.js';
import { jsonPath } from '../text/json-path.js';
import type { CallbackEvidence, CallEvidence } from './evidence/evidence.js';
import { eventsOf, type Leg, statusOf } from './evidence/leg.js';
import type { CheckStatus } from './judge.js';
import { perhapsLost } from './observation.js';
import { missingOffers } from './offers.js';

/** What came of one call that is a case's. */
export interface CaseVerdict {
  readonly status: Extract<CheckStatus, 'pass' | 'fail' | 'could-not-run'>;
  readonly reason: string;
  /** The same on several lines, for where there is room; the one line unless told. */
  readonly reasonLines?: readonly string[];
  /** By their `seq`, the events that prove it. */
  readonly events: readonly number[];
}

/** A call against what its case expects of the result, and says that the call starts. */
export function verdictOn({ expected, offers }: Case, call: CallEvidence, isWhole: boolean): CaseVerdict {
  const callback = call.callbacks.find(({ verdict }) => verdict?.kind === 'settles');
  const message = callback?.reading?.ok ? callback.reading.message : null;
  if (!callback || message?.type !== 'tool_result') return withoutResult(call, isWhole);
  const differences = (expected?.(seenIn(message)) ?? []).map(differenceText);
  const missing = missingOffers(offers, call);
  const events = eventsOf(callback);
  if (differences.length > 0) return { status: 'fail', ...reasonFor([...differences, ...missing]), events };
  if (missing.length > 0) return { ...absent(listed(missing), isWhole), events };
  return { status: 'pass', reason: 'its result is as expected', events };
}

/** What did not come is a failure; where a part of what happened is not known, it may have come. */
function absent(what: string, isWhole: boolean): Pick<CaseVerdict, 'status' | 'reason'> {
  return isWhole ? { status: 'fail', reason: what } : { status: 'could-not-run', reason: perhapsLost(what) };
}

/** Whoever mends a tool wants to see all of them; of hundreds, the first. */
function listed(faults: readonly string[]): string {
  return firstOf(faults, MOST_FAULTS).join('; ');
}

function reasonFor(faults: readonly string[]): Pick<CaseVerdict, 'reason' | 'reasonLines'> {
  return {
    reason: listed(faults),
    ...(faults.length > 1 && { reasonLines: firstOf(faults, MOST_FAULTS) }),
  };
}

const MOST_FAULTS = 20;

function differenceText(difference: Difference): string {
  return `${jsonPath(difference.path)}: ${wantedText(difference)}`;
}

/** What a case can speak of: what the human sees is chosen as by a client that draws all segments there are. */
function seenIn(message: ToolResult): CaseResult {
  const text = llmText(message);
  const json = parseJson(text);
  const { chosen } = chooseSegment(message.display_as, knownTypes);
  const segment = chosen && message.display_as?.[chosen.index];
  return {
    outcome: outcomeOfText(text).type,
    text,
    ...(json.ok && { json: json.value }),
    ...(segment && { display: segment }),
    subscription: message.subscription === true,
  };
}

function withoutResult({ attempts, callbacks, expiries }: CallEvidence, isWhole: boolean): CaseVerdict {
  const last = attempts.at(-1);
  const status = last ? statusOf(last) : null;
  const legs: readonly Leg[] = [...(last ? [last] : []), ...callbacks];
  const events = legs.flatMap(eventsOf);
  if (status === null)
    return { status: 'could-not-run', reason: 'the invocation was never answered', events };
  if (status !== 200) return { status: 'fail', reason: `the invocation was answered ${status}`, events };
  if (callbacks.some(isAnothers)) return { status: 'fail', reason: ANOTHERS, events };
  const question = callbacks.find(isQuestion);
  if (question) return { status: 'could-not-run', reason: 'it waits for a person', events };
  const [{ afterMs } = { afterMs: null }] = expiries;
  const within = afterMs === null ? '' : ` within ${formatDuration(afterMs)}`;
  return { ...absent(`no result came${within}`, isWhole), events };
}

const ANOTHERS = 'the result that came names another call, and is ignored (TOOL-ID, RT-MATCH)';

function isAnothers({ verdict, reading }: CallbackEvidence): boolean {
  return verdict?.kind === 'discarded' && reading?.ok === true && reading.message.type === 'tool_result';
}

function isQuestion({ verdict }: CallbackEvidence): boolean {
  return verdict?.kind === 'holds';
}
