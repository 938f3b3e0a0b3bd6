import type { ToolCall } from '../../../exchange/tool-call.js';
import type { Redactor } from '../../../text/redact.js';
import type { Line } from '../../line.js';
import { say } from '../../spans.js';
import { clipped } from '../clip.js';
import { questionOf } from '../question.js';
import { labelled, MOST, withoutPath } from './labelled.js';

/** What somebody has to do before the call goes on, and where; nothing where it waits for nobody. */
export function waitLines(call: ToolCall, secrets: Redactor): Line[] {
  switch (call.awaits) {
    case 'fire':
      return [labelled('waits', say('to be fired: press e', 'warn'))];
    case 'choice':
      return choiceLines(call, secrets);
    case 'consent':
      return consentLines(call);
    default:
      return [];
  }
}

/** The response URL is the runtime's, and a secret: where it leads is enough to know. */
function choiceLines(call: ToolCall, secrets: Redactor): Line[] {
  const { choices, preset, responseUrl } = questionOf(call);
  const answer = JSON.stringify({ id: call.addressee?.id, selected: preset });
  const label = secrets.text(choices[preset] ?? '');
  return [
    labelled('waits', say('for a choice: press e for ', 'warn'), ...clipped(label, 'title', MOST)),
    labelled('', say('or the runtime posts, such as '), ...clipped(answer, 'plain', MOST)),
    labelled('', say('to its response_url, '), ...clipped(withoutPath(responseUrl), 'plain', MOST)),
  ];
}

/** The address on a row of its own, from its first cell on, so that it can be copied: it is for the person in front of the screen. */
function consentLines(call: ToolCall): Line[] {
  return [
    labelled('waits', say('for consent: press e to grant it, or decide at', 'warn')),
    clipped(questionOf(call).authUrl, 'running', MOST),
  ];
}
