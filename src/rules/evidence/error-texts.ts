import { outcomeOfText } from '../../outcome/conventions.js';
import { llmText } from '../../protocol/llm-text.js';
import { type Spot, sent } from '../spot.js';
import { endingOf } from './ending.js';
import type { CallbackEvidence, CallEvidence, Evidence } from './evidence.js';
import { toldAs } from './messages.js';
import { unacceptable } from './unacceptable.js';

/** A result that says what went wrong. */
export interface ErrorText {
  readonly text: string;
  /** The member that the text is from. */
  readonly spot: Spot;
  readonly callback: CallbackEvidence;
  readonly call: CallEvidence;
}

/** A complaint begins so, with the words of the convention or in its own. */
const COMPLAINS = /^\s*(?:\w{1,60}(?:error|exception)|error|exception|failure|failed|fatal)\s*[:!–-]/i;

/** Every result that is an error by convention, or begins like one, or answers what must not be executed. */
export function errorTexts(evidence: Evidence): readonly ErrorText[] {
  return evidence.calls.flatMap(call =>
    isRefusal(call, evidence) ? resultsOf(call).slice(0, 1) : resultsOf(call).filter(isError),
  );
}

function resultsOf(call: CallEvidence): ErrorText[] {
  return toldAs(call, 'tool_result').map(({ callback, message }) => ({
    text: llmText(message),
    spot: sent(callback, message.content === undefined ? 'text' : 'content'),
    callback,
    call,
  }));
}

function isRefusal(call: CallEvidence, evidence: Evidence): boolean {
  if (unacceptable(call, evidence) === null) return false;
  const ending = endingOf(call);
  return ending.kind === 'result' && ending.isError;
}

function isError({ text }: ErrorText): boolean {
  return outcomeOfText(text).type === 'error' || COMPLAINS.test(text);
}
