import type { Event } from '../../../exchange/events.js';
import { type CallbackDelivery, type ToolCall, typeOfDelivery } from '../../../exchange/tool-call.js';
import { formatDuration } from '../../../text/format-duration.js';
import type { Line } from '../../line.js';
import { quote, say } from '../../spans.js';
import { faultOf, isTaken } from '../call-state.js';
import { about } from './line.js';

type EndEvent = Extract<Event, { kind: 'response' | 'broken' }>;

/** What became of an attempt to deliver a callback, and of an invocation that was not simply acknowledged. */
export function attemptNews(event: EndEvent, call: ToolCall | undefined): Line | null {
  if (!call) return null;
  const { leg } = event;
  if (leg === call.acknowledgement.leg)
    return call.isDirect ? answerNews(event, call) : acknowledgementNews(event, call);
  const delivery = deliveryOf(call, leg);
  const index = delivery?.attempts.findIndex(each => each.leg === leg) ?? -1;
  const attempt = delivery?.attempts[index];
  if (!delivery || !attempt) return otherNews(event, call);
  const { at, endedAt = at, status = 500 } = attempt;
  const type = quote(typeOfDelivery(delivery) ?? 'callback');
  const took = say(` in ${formatDuration(endedAt - at)}`, 'dim');
  const which = index > 0 ? ` at attempt ${index + 1}` : '';
  if (isTaken(status)) return about(call, 'done', ...type, say(` delivered${which}`), took);
  if (status < 500) return null; // it is final, and told as given up
  return about(call, 'note', ...type, say(` attempt ${index + 1} failed: ${faultOf(attempt)}`, 'warn'), took);
}

/** The callback that a leg is an attempt of. */
export function deliveryOf(call: ToolCall | undefined, leg: string): CallbackDelivery | undefined {
  return call?.deliveries.findLast(({ attempts }) => attempts.some(each => each.leg === leg));
}

/** Of a client that is not called back. */
function answerNews(event: EndEvent, call: ToolCall): Line | null {
  const took = say(` after ${formatDuration(event.at - call.receivedAt)}`, 'dim');
  if (event.kind === 'response') return about(call, 'done', say('answered'), took);
  if (call.isSilent) return null; // it has been said
  return about(call, 'note', say('got no answer: '), ...quote(event.code, 'warn'), took);
}

function acknowledgementNews(event: EndEvent, call: ToolCall): Line | null {
  if (event.kind === 'broken') return about(call, 'note', say('was not acknowledged, as planned', 'warn'));
  return event.status === 200 ? null : about(call, 'failed', say(`was refused with ${event.status}`, 'bad'));
}

/** An answer of the user that is none, or the like. */
function otherNews(event: EndEvent, call: ToolCall): Line | null {
  if (event.kind === 'broken' || event.status < 400) return null;
  return about(call, 'failed', say(`a request about it was refused with ${event.status}`, 'warn'));
}
