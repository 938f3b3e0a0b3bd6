import type { Event, RequestEvent, ResponseEvent } from '../exchange/events.js';
import { bodyText, breakText, headText } from '../story/message-text.js';
import type { Redactor } from '../text/redact.js';
import { visible, visibleLine } from '../text/visible.js';

const MAX_BODY = 64 * 1024;

/**
 * `-v`: the invocation and what came back, selections and notices, as curl shows them; secrets out, foreign text safe. Discovery is
 * none of them: `toolset` shows its document.
 */
export function verboseTeller(redactor: Redactor, write: (text: string) => unknown): (event: Event) => void {
  const pending = new Set<string>();
  return event => {
    if (event.kind === 'request' && event.purpose !== 'discovery') {
      pending.add(event.leg);
      write(messageText('>', event, redactor));
    }
    if ((event.kind === 'response' || event.kind === 'broken') && pending.delete(event.leg))
      write(
        event.kind === 'broken' ? `* ${visibleLine(breakText(event))}\n` : messageText('<', event, redactor),
      );
  };
}

function messageText(sign: string, event: RequestEvent | ResponseEvent, redactor: Redactor): string {
  const head = headText(event, redactor).map(line => `${sign} ${visibleLine(line)}\n`);
  const body = bodyText(event.body, redactor);
  return head.join('') + (body === null ? '' : cutBody(body));
}

function cutBody(text: string): string {
  const rest = text.length > MAX_BODY ? `\n… ${text.length - MAX_BODY} more characters` : '';
  return `\n${visible(text.slice(0, MAX_BODY))}${rest}\n`;
}
