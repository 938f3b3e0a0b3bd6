import type { Event } from '../../events/events.js';
import type { Arrival } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { Redactor } from '../../util/redact.js';
import { newArrivalOf } from '../callbacks.js';
import { type Layout, type Line, say } from '../line.js';
import { type Pane, paneLines, panesOf, viewPane } from '../panes.js';
import { stepLine } from '../step.js';
import { newStepsOf } from '../steps.js';
import { lineStyler } from '../terminal/wrap.js';
import { warningsOfEnding } from '../warnings.js';
import type { Page, Reporter } from './reporter.js';

const WHOLE: Layout = { count: Number.POSITIVE_INFINITY, isUnfolded: true };
/** A view may be drawn many times, so only its first lines are shown. */
const VIEW_LAYOUT: Layout = { count: 200 };

/** Prints steps as they happen and views as they change, then the two panes; for pipes, logs and screen readers. */
export function plainReporter(page: Page, supports: ReadonlySet<string>): Reporter {
  const { history, redactor, isTTY, lendTerminal: aside } = page;
  const styled = lineStyler(page);
  return {
    event(event) {
      if (!isTTY) page.urgent(event);
      const lines = () => [
        // Only the user may see a whole consent URL (RT-OAUTH).
        ...newStepsOf(history, event, { isPrivate: isTTY }).map(step => stepLine(step)),
        ...viewLines(history, event, newArrivalOf(history, event), redactor),
      ];
      page.out.news(() => [styled(lines())]);
    },
    lendTerminal: aside,
    async settled({ exchange }) {
      const panes = exchange ? panesOf(exchange, supports) : null;
      if (!panes) return;
      for (const pane of [panes.human, panes.llm])
        page.out.write(`\n${styled(paneLines(cleanPane(pane, redactor), WHOLE).lines)}`);
      page.out.write('\n');
      await page.out.written();
    },
    end(ending) {
      const panes = ending.exchange ? panesOf(ending.exchange, supports) : null;
      return page.end(warningsOfEnding(ending, panes?.warnings), ending.trouble);
    },
  };
}

/** Redacts a pane before long lines are cut: a cut could leave the beginning of a secret. */
function cleanPane(pane: Pane, redactor: Redactor): Pane {
  const { drawing } = pane;
  return drawing.kind === 'text'
    ? { ...pane, drawing: { ...drawing, text: redactor.text(drawing.text) } }
    : pane;
}

/** A view that has just changed, between empty lines; nothing if it was cleared. */
function viewLines(
  { threads }: History,
  { thread = '' }: Event,
  arrival: Arrival | null,
  redactor: Redactor,
): Line[] {
  const { message, verdict } = arrival ?? {};
  if (verdict?.kind !== 'noted' || message?.type !== 'view_update') return [];
  const view = threads.get(thread)?.views.get(message.view_type);
  if (!view) return [];
  const { lines, total } = paneLines(cleanPane(viewPane(view), redactor), VIEW_LAYOUT);
  const rest = total - lines.length;
  return [[], ...lines, ...(rest > 0 ? [[say(`… ${rest} more lines`, 'dim')]] : []), []];
}
