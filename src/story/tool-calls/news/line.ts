import type { ToolCall } from '../../../exchange/tool-call.js';
import type { Line, Span } from '../../line.js';
import { say } from '../../spans.js';
import { callName } from '../call-name.js';

export type NewsKind = 'received' | 'done' | 'failed' | 'note' | 'warning';

const MARKS: Readonly<Record<NewsKind, Span>> = {
  received: say('→', 'running'),
  done: say('✓', 'good'),
  failed: say('✗', 'bad'),
  note: say('•', 'dim'),
  warning: say('!', 'warn'),
};

export function news(kind: NewsKind, ...line: Line): Line {
  return [MARKS[kind], say(' '), ...line];
}

/** News of a call begin with its name; without one they stand alone. */
export function about(call: ToolCall | undefined, kind: NewsKind, ...line: Line): Line {
  return call ? news(kind, ...callName(call), say(' '), ...line) : news(kind, ...line);
}
