import type { ColourLevel } from '../dress/colour-level.js';
import { dressLine } from '../dress/dress.js';
import { createTheme } from '../dress/theme.js';
import type { Event } from '../exchange/events.js';
import { recordedNews } from '../story/recorded/news.js';
import { say } from '../story/spans.js';
import { elapsed } from '../story/tool-calls/index.js';
import { isClosed, quietPipes } from '../system/output.js';
import type { Redactor } from '../text/redact.js';

/**
 * Tells a recording in lines while it is made. Foreign text is safe to print (threats, row 24), and has no secrets that `redactor`
 * knows (row 25).
 * @returns the listener for its events
 */
export function recordedPlain(
  stream: NodeJS.WritableStream,
  { level, redactor }: { readonly level: ColourLevel; readonly redactor: Redactor },
): (event: Event) => void {
  const theme = createTheme(level);
  const newsOf = recordedNews();
  quietPipes(stream);
  return event => {
    const line = newsOf(event);
    if (!line || isClosed(stream)) return;
    const time = say(`${elapsed(event.at).padStart(8)} `, 'dim');
    const clean = line.map(span => ({ ...span, text: redactor.text(span.text) }));
    stream.write(`${dressLine([time, ...clean], theme)}\n`);
  };
}
