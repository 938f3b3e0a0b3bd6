import type { ToolCall } from '../../exchange/tool-call.js';
import type { Line, Tone } from '../line.js';
import { say } from '../spans.js';
import { clipped } from './clip.js';

/** What a call asks for; of a malformed one nobody knows. */
export function operationOf({ invocation }: ToolCall, tone: Tone = 'plain'): Line {
  return invocation ? clipped(invocation.operation, tone) : [say('malformed', 'bad')];
}

/** Which call it is: its operation, its id, its thread. That it is malformed is told by what follows. */
export function callName(call: ToolCall): Line {
  const { id = '', group_id = '' } = call.addressee ?? {};
  return [
    ...(call.invocation ? operationOf(call, 'title') : [say('a call', 'title')]),
    ...(id ? [say(' '), ...clipped(id)] : []),
    ...(group_id ? [say(' (', 'dim'), ...clipped(group_id, 'dim'), say(')', 'dim')] : []),
  ];
}
