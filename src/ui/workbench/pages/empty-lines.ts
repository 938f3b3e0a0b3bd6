import type { Line } from '../../../story/line.js';
import { quote, say } from '../../../story/spans.js';
import type { Looking } from '../looking.js';

/** What is said where there is no call: how to make one, or what a transcript has instead. */
export function emptyLines({ volume, book }: Looking): readonly Line[] {
  return volume.isLive ? NO_CALLS_YET : withoutCalls(volume.name, book.whole.events.length);
}

const NO_CALLS_YET: readonly Line[] = [
  [say('No calls yet.')],
  [say('t', 'title'), say(' shows the tools: choose an operation there, fill in its form, run it.', 'dim')],
];

function withoutCalls(name: string, events: number): readonly Line[] {
  return [
    [say('No calls in '), ...quote(name, 'title'), say('.')],
    [say(events === 0 ? NOTHING : besides(events), 'dim')],
    [
      say('V', 'title'),
      say(' goes on to the next one that is open, ', 'dim'),
      say('O', 'title'),
      say(' opens another transcript.', 'dim'),
    ],
  ];
}

const NOTHING = 'It holds no event: it ends before anything happened, or was cut there.';

function besides(events: number): string {
  const count = events === 1 ? '1 event' : `${events} events`;
  return `It holds ${count}, none an invocation: protocol-cli render tells what they are.`;
}
