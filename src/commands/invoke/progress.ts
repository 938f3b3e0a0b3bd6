import type { History } from '../../events/history.js';
import type { Listener } from '../../events/log.js';
import { arrivalOf, arrivalStep } from '../../render/callbacks.js';
import { lineText } from '../../render/line.js';
import type { Redactor } from '../../util/redact.js';
import { visibleLine } from '../../util/visible.js';

/** Returns a listener that tells a caller of this command each callback in one line, safe to print. */
export function progressTeller(
  history: History,
  redactor: Redactor,
  onProgress: (text: string) => void,
): Listener {
  return event => {
    const found = event.kind === 'request' ? arrivalOf(history, event) : null;
    if (!found) return;
    const [first = []] = arrivalStep(found.exchange, found.arrival).lines;
    onProgress(visibleLine(redactor.text(lineText(first))));
  };
}
