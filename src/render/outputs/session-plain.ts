import type { Event } from '../../events/events.js';
import { Sessions } from '../../events/session-calls.js';
import { isClosed, quietPipes } from '../../system/streams.js';
import type { Redactor } from '../../util/redact.js';
import { elapsed, say } from '../line.js';
import { sessionNews } from '../news.js';
import type { ColourLevel } from '../terminal/colour-level.js';
import { createTheme, dressLine } from '../terminal/theme.js';

/**
 * Tells what happens on a session platform in lines: for logs, pipes and screen readers. Foreign text is safe to print (threats, row
 * 24), and has no secrets that `redactor` knows, whoever sent them (row 25). Memory is bounded, however long it runs.
 * @returns the listener for its events
 */
export function sessionPlain(
  stream: NodeJS.WritableStream,
  { level, redactor }: { readonly level: ColourLevel; readonly redactor: Redactor },
): (event: Event) => void {
  const theme = createTheme(level);
  const sessions = new Sessions();
  quietPipes(stream);
  return event => {
    sessions.apply(event);
    const line = sessionNews(event, { sessions });
    if (!line || isClosed(stream)) return;
    const time = say(`${elapsed(event.at).padStart(8)} `, 'dim');
    const clean = line.map(span => ({ ...span, text: redactor.text(span.text) }));
    stream.write(`${dressLine([time, ...clean], theme)}\n`);
  };
}
