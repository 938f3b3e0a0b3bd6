import type { RequestEvent } from '../../../exchange/events.js';
import type { ToolCall } from '../../../exchange/tool-call.js';
import type { Line } from '../../line.js';
import { say } from '../../spans.js';
import { clipped } from '../clip.js';
import { about, news } from './line.js';

/** What a runtime says besides invocations; null for any other request. */
export function noticeNews({ purpose, thread }: RequestEvent, call: ToolCall | undefined): Line | null {
  switch (purpose) {
    case 'cancel':
      return call
        ? about(call, 'note', say('was cancelled'))
        : ofThread(thread, 'cancels a call that is not known');
    case 'close':
      return ofThread(thread, 'was closed');
    case 'migrate':
      return ofThread(thread, 'moves elsewhere');
    default:
      return null;
  }
}

function ofThread(thread: string | undefined, does: string): Line {
  const who = thread === undefined ? [say('a thread')] : [say('thread '), ...clipped(thread, 'title')];
  return news('note', ...who, say(` ${does}`));
}
