import { RecentCalls } from '../../events/bounded-events.js';
import type { Event } from '../../events/events.js';
import { isClosed, quietPipes } from '../../system/streams.js';
import { elapsed, say } from '../line.js';
import { newsOf } from '../news.js';
import type { ColourLevel } from '../terminal/colour-level.js';
import { createTheme, dressLine } from '../terminal/theme.js';

/** A call that is forgotten is told without its name; more than so many are hardly ever under way. */
const LIMITS = { calls: 2_000, bytes: 16 * 1024 * 1024, callbacks: 20 };

/**
 * Tells what happens to a mock in lines: for logs, pipes and screen readers. Foreign text is safe to print (threats, row 24);
 * URLs are not told at all, since they hold the tokens of callbacks (row 25). Memory is bounded, however long it runs.
 * @returns the listener for its events
 */
export function mockPlain(
  stream: NodeJS.WritableStream,
  { level }: { readonly level: ColourLevel },
): (event: Event) => void {
  const theme = createTheme(level);
  const calls = new RecentCalls(LIMITS);
  quietPipes(stream);
  return event => {
    calls.apply(event);
    const [key = ''] = event.calls ?? [];
    const line = newsOf(event, calls.get(key));
    if (!line || isClosed(stream)) return;
    const time = say(`${elapsed(event.at).padStart(8)} `, 'dim');
    stream.write(`${dressLine([time, ...line], theme)}\n`);
  };
}
