import type { Line } from '../../story/line.js';
import { quote, say } from '../../story/spans.js';
import type { Typed } from './step.js';

/** A line that is typed, with its cursor; of a long one, what is around the cursor. @param label ours, before it */
export function promptLine(label: string, { text, cursor }: Typed, columns: number): Line {
  const room = Math.max(4, columns - label.length - 1);
  const from = Math.max(0, cursor - room + 1);
  const under = [...text.slice(cursor)][0] ?? ' ';
  return [
    say(label, 'title'),
    ...quote(text.slice(from, cursor)),
    ...quote(under).map(span => ({ ...span, tone: 'cursor' as const })),
    ...quote(text.slice(cursor + under.length, from + room)),
  ];
}
