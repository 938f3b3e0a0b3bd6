import type { ToolResult } from '../../protocol/callbacks.js';
import { excerpt } from '../../util/text.js';
import type { CallbackEvidence } from '../callback-evidence.js';
import type { DriverEvidence } from '../driver-evidence.js';
import { defineRules, met, type Observed, violated, violatedIfComplete } from '../rule.js';
import { statusMismatch } from '../rule-details.js';
import { isKnownType, isMalformed } from './segment-types.js';
import { isHandled, judgeEachResult, type ResultWithSightings } from './sent-results.js';

/** What the user sees of the results of a tool. */
export const runtimeDisplayRules = defineRules({
  'RT-DISPLAY': {
    level: 'SHOULD',
    statement: 'shows the user the first supported display segment, else text',
    advice: 'Show the first segment of display_as that you support, else text.',
    resultPage:
      'Runtimes SHOULD iterate the display_as array and render the first segment whose type they support.',
    needs: ['human'],
    absent: 'not visible in HTTP traffic: it concerns what the user sees',
    observe: evidence => judgeEachResult(evidence, judgeDisplay),
  },
});

/** A runtime supports the types that it showed at any time, and text. */
function judgeDisplay(result: ResultWithSightings, driver: DriverEvidence): Observed {
  const { status, callback, message, call } = result;
  if (status !== 'awaited' || !call) return null;
  if (callback.isRefused) return judgeRefusedSegments(callback, message);
  if (callback.status === null || callback.status >= 300) return null;
  const [own] = driver.observationsOf(call, 'human');
  const candidates = own ? [own] : driver.possibleObservationsOf(null, 'human');
  const supported = new Set(driver.observations('human').map(each => each.message.type));
  const fitting = fittingTypes(message, supported.add('text'));
  const shown = candidates.find(each => fitting.includes(each.message.type));
  if (shown) return met([callback, shown]);
  if (own) {
    const details = { expected: fitting.join(' or '), actual: excerpt(own.message.type) };
    return violated('the user saw another segment', [callback, own], details);
  }
  const isUnseen = candidates.length === 0 && isHandled(result, driver) && !driver.crash;
  return isUnseen ? violatedIfComplete('the user saw nothing of a result', callback) : null;
}

/** A runtime may refuse a result with a malformed segment, but should skip an unknown type. */
function judgeRefusedSegments(callback: CallbackEvidence, message: ToolResult): Observed {
  const { display_as: segments = [] } = message;
  if (segments.some(isMalformed)) return met(callback);
  if (segments.every(isKnownType)) return null;
  const what = `a result with a segment of an unknown type was answered ${callback.status}`;
  return violated(what, callback, statusMismatch(callback));
}

/** The types that may be shown: that of the first supported segment, and those of invalid ones before it. */
function fittingTypes(
  { display_as: segments = [], content = [] }: ToolResult,
  supported: ReadonlySet<string>,
) {
  const known = segments.filter(segment => isKnownType(segment) && supported.has(segment.type));
  const index = known.findIndex(segment => !isMalformed(segment));
  const types = known.slice(0, index < 0 ? known.length : index + 1).map(({ type }) => type);
  return index < 0 ? [...types, 'text', ...content.map(({ type }) => type)] : types;
}
