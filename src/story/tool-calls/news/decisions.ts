import type { Event } from '../../../exchange/events.js';
import type { ToolCall } from '../../../exchange/tool-call.js';
import type { Line } from '../../line.js';
import { quote, say } from '../../spans.js';
import { decidedBy, decidedLabel } from '../decision.js';
import { about } from './line.js';

/** What was chosen, by its label; what was granted or refused. */
export function decisionNews(
  event: Extract<Event, { kind: 'decided' }>,
  call: ToolCall | undefined,
): Line | null {
  const { what } = event;
  if (what !== 'choice' && what !== 'consent') return null;
  const label = quote(decidedLabel(event, call), 'title');
  return about(call, 'done', say(`${what} `), ...label, say(` ${decidedBy(event)}`, 'dim'));
}
