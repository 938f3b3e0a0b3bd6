import { isDeepStrictEqual } from 'node:util';
import { outcomeOfPayload, payloadOfOutcome } from '../../outcome/conventions.js';
import type { Outcome } from '../../outcome/outcome.js';
import { compactJson } from '../../text/compact-json.js';
import { imagesOf } from '../content.js';
import type { Answer, Dialect, Loss, Writing } from '../dialect.js';
import { lossesOf, lossOf } from '../losses.js';
import { sentenceOf, words } from '../sentence.js';

/** `isError` is always written; `structuredContent` and `_meta` only where they are set (seed 003). */
export function writeCallToolResult(wire: Pick<Dialect, 'title' | 'carries'>, answer: Answer): Writing {
  const { outcome, beside = {} } = answer;
  const { structured, losses } = structuredOf(wire, answer);
  const { meta } = beside;
  const content = contentOf(answer);
  const isBare = content.length === 0 && structured !== undefined; // then it is read as the payload
  const mistaken = isBare && outcome.type === 'success' ? [lossOf(wire, 'no payload', true)] : [];
  const body = {
    content,
    ...(structured !== undefined && { structuredContent: structured }),
    isError: outcome.type !== 'success',
    ...(meta !== undefined && { _meta: meta }),
  };
  return { body, losses: [...lossesOf(wire, answer), ...losses, ...mistaken] };
}

function contentOf(answer: Answer): object[] {
  const text = textOf(answer);
  const { 'other content': others } = answer.beside ?? {};
  return [
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...imagesOf(answer).map(({ data, mediaType }) => ({ type: 'image', data, mimeType: mediaType })),
    ...(Array.isArray(others) ? others : []),
  ];
}

/** A payload is wrapped as a text: a string as it is, other JSON without blanks (seed 003). */
function textOf(answer: Answer): string | undefined {
  const { outcome, payload } = answer;
  if (outcome.type === 'success') return words(payload);
  const documented = isByConvention(outcome) ? compactJson(payloadOfOutcome(outcome)) : null;
  return documented ?? sentenceOf(answer);
}

function isByConvention({ type }: Outcome): boolean {
  return type === 'canceled' || type === 'timeout' || type === 'denied';
}

interface Structured {
  readonly structured: unknown;
  readonly losses: readonly Loss[];
}

/** An outcome that needs structured content to be told takes its place. */
function structuredOf(wire: Pick<Dialect, 'title'>, { outcome, beside = {} }: Answer): Structured {
  const { 'structured content': own } = beside;
  const told = toldBy(outcome);
  if (told === null || says(own, outcome)) return { structured: own, losses: [] };
  return { structured: told, losses: own === undefined ? [] : [lossOf(wire, 'structured content', own)] };
}

function toldBy(outcome: Outcome): object | null {
  const isPlain = outcome.type === 'error' && outcome.code === undefined && outcome.errorType === undefined;
  return isPlain ? null : payloadOfOutcome(outcome);
}

/** Whether structured content tells the outcome already, though perhaps in other words. */
function says(own: unknown, outcome: Outcome): boolean {
  const documented = outcomeOfPayload(own);
  if (documented?.type !== 'error' || outcome.type !== 'error') return false;
  const { code, errorType } = outcome;
  return isDeepStrictEqual([documented.code, documented.errorType], [code, errorType]);
}
