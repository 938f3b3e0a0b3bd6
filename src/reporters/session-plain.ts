import type { ColourLevel } from '../dress/colour-level.js';
import { dressLine } from '../dress/dress.js';
import { createTheme } from '../dress/theme.js';
import type { Event } from '../exchange/events.js';
import { Sessions } from '../exchange/session/sessions.js';
import { sessionNews } from '../story/session/news.js';
import { say } from '../story/spans.js';
import { elapsed } from '../story/tool-calls/index.js';
import { isClosed, quietPipes } from '../system/output.js';
import type { Redactor } from '../text/redact.js';

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
