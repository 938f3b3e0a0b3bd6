import type { Event } from '../../exchange/events.js';
import type { ToolCall } from '../../exchange/tool-call.js';
import { questionOf } from './question.js';

type Decision = Extract<Event, { kind: 'decided' }>;

/** What was decided: a choice by its label. Foreign words. */
export function decidedLabel({ what, value = '' }: Decision, call: ToolCall | undefined): string {
  return what === 'choice' ? (questionOf(call).choices[Number(value)] ?? String(value)) : String(value);
}

/** A mock has no policy: who fires a call gives the preset answer by hand. */
export function decidedBy({ by }: Decision): string {
  return by === 'policy' ? 'fired by hand' : `by a ${by}`;
}
