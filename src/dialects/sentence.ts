import type { Outcome } from '../outcome/outcome.js';
import { compactJson } from '../text/compact-json.js';
import { excerpt } from '../text/excerpt.js';
import { formatDuration } from '../text/format-duration.js';
import type { Answer } from './dialect.js';

/** An outcome for the model, in the words of an error, where a wire has none for its kind. */
export function sentenceOf({ outcome, payload }: Pick<Answer, 'outcome' | 'payload'>): string {
  switch (outcome.type) {
    case 'error':
      return outcome.message;
    case 'canceled':
      return canceledSentence(outcome);
    case 'timeout':
      return timeoutSentence(outcome);
    case 'denied':
      return deniedSentence(outcome);
    case 'unknown':
      return withReason(
        `The call ended as ${rawWords(outcome.raw)}, which is not known here`,
        words(payload),
      );
    case 'success':
      return words(payload) ?? '';
  }
}

/** A payload as a text: a string as it is, other JSON without blanks; undefined where there is none. */
export function words(payload: unknown): string | undefined {
  return typeof payload === 'string' ? payload : (compactJson(payload) ?? undefined);
}

type Kind<Type extends Outcome['type']> = Extract<Outcome, { type: Type }>;

function canceledSentence({ reason, by }: Kind<'canceled'>): string {
  return withReason(`The call was canceled${by === undefined ? '' : ` by the ${by}`}`, reason);
}

function timeoutSentence({ durationMs }: Kind<'timeout'>): string {
  const limit = Number.isFinite(durationMs) ? ` (${formatDuration(durationMs ?? 0)})` : '';
  return `The tool did not answer within the time allowed${limit}.`;
}

function deniedSentence({ tool, reason }: Kind<'denied'>): string {
  return withReason(`The call${tool === undefined ? '' : ` of ${tool}`} was denied`, reason);
}

function withReason(sentence: string, reason: string | undefined): string {
  return reason === undefined || reason === '' ? `${sentence}.` : `${sentence}: ${reason}`;
}

function rawWords(raw: unknown): string {
  return excerpt(words(raw) ?? 'nothing');
}
