import type { Callback, OAuth, SubscriptionEvent, UserChoice } from '../../protocol/callbacks/index.js';
import { bareUrl } from '../../text/redact.js';
import type { Line } from '../line.js';
import { questionLines } from '../question-lines.js';
import { quote, say } from '../spans.js';
import { withoutPath } from '../tool-calls/details/labelled.js';
import { callHeading } from './call-lines.js';

/** A callback in lines, but for what its panes show. @param isPrivate whether only the user sees it, to whom alone URLs that give power are shown whole (RT-OAUTH) */
export function messageLines(message: Callback, isPrivate: boolean): Line[] {
  switch (message.type) {
    case 'tool_result':
      return [callHeading(message.type, message), ...(message.subscription ? [SUBSCRIBED] : [])];
    case 'oauth':
      return [callHeading(message.type, message), ...consentLines(message, isPrivate)];
    case 'user_choice':
      return [callHeading(message.type, message), ...choiceLines(message, isPrivate)];
    case 'subscription_event':
      return [callHeading(message.type, { ...message, id: message.tool_call_id }), placementLine(message)];
    case 'view_update':
      return [callHeading(message.type, message), ...(isCleared(message.content) ? [CLEARED] : [])];
  }
}

const SUBSCRIBED: Line = [say('• ', 'warn'), say('it opens a subscription: events follow')];
const CLEARED: Line = [say('• ', 'warn'), say('its content is empty: the view is cleared')];

/** Whether a view is taken away by this content (RT-VIEW). */
export function isCleared(content: object): boolean {
  return Object.keys(content).length === 0;
}

function consentLines({ auth_url }: OAuth, isPrivate: boolean): Line[] {
  const url = isPrivate ? auth_url : bareUrl(auth_url);
  return [
    [say('• ', 'warn'), say('visit '), ...quote(url, 'title'), say(' to go on; the call stays pending')],
    ...(url === auth_url ? [] : [[say('  its query is shown on a terminal alone', 'dim')]]),
  ];
}

function choiceLines(question: UserChoice, isPrivate: boolean): Line[] {
  const { response_url } = question;
  const url = isPrivate ? response_url : withoutPath(response_url);
  return [
    ...questionLines(question).map(
      (line, index): Line => [index === 0 ? say('• ', 'warn') : say('  ', 'gutter'), ...line],
    ),
    [say('  the selection goes to ', 'dim'), ...quote(url, 'dim')],
  ];
}

function placementLine({ associative, final, group_id }: SubscriptionEvent): Line {
  const where = associative ? 'goes to thread ' : 'goes to a child thread of ';
  const end = final ? '; it is the last one' : '';
  return [say('• ', 'warn'), say(where), ...quote(group_id), say(` as a call of receive_event${end}`)];
}
