import type { ColourLevel } from '../dress/colour-level.js';
import { dressLine } from '../dress/dress.js';
import { createTheme } from '../dress/theme.js';
import type { Event } from '../exchange/events.js';
import type { Arrival } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';
import { newArrivalOf } from '../story/arrival-of.js';
import type { Line } from '../story/line.js';
import { paneLines } from '../story/pane-lines.js';
import { panesOf } from '../story/panes.js';
import { say } from '../story/spans.js';
import { stepLine } from '../story/step-line.js';
import { newStepsOf } from '../story/steps/index.js';
import { viewPane } from '../story/view-pane.js';
import { counted, warningsOf } from '../story/warnings.js';
import type { Layout } from '../story/window.js';
import { writeOut } from '../system/output.js';
import { bareUrl } from '../text/redact.js';
import { visibleLine } from '../text/visible.js';
import type { Ending, Paper, Reporter } from './reporter.js';
import { troubleText, warningText } from './trouble.js';
import { urgentTeller } from './urgent.js';

const WHOLE: Layout = { count: Number.POSITIVE_INFINITY, isUnfolded: true };
/** A view may be drawn many times: so much of it each time. */
const OF_VIEW: Layout = { count: 200 };

/**
 * The story of the live view in lines, for pipes, logs and screen readers: steps as they happen and views as they change, the two
 * panes once there is a result.
 */
export function plainReporter(
  history: History,
  paper: Paper,
  supports: ReadonlySet<string>,
  { level, isTTY }: { readonly level: ColourLevel; readonly isTTY: boolean },
): Reporter {
  const theme = createTheme(level);
  const urgent = isTTY ? null : urgentTeller(history, paper);
  const secrets = authUrls();
  const dressed = (lines: readonly Line[]) => lines.map(line => `${dressLine(line, theme)}\n`).join('');
  return {
    event(event) {
      urgent?.(event);
      const arrival = newArrivalOf(history, event);
      if (arrival) secrets.learn(arrival);
      const text = dressed([
        ...newStepsOf(history, event).map(step => stepLine(step)),
        ...viewLines(history, event, arrival),
      ]);
      if (text !== '') paper.stdout.write(isTTY ? text : secrets.without(text));
    },
    async settled({ exchange }: Ending) {
      const panes = exchange ? panesOf(exchange, supports) : null;
      if (!panes) return;
      for (const pane of [panes.human, panes.llm])
        await writeOut(paper.stdout, `\n${dressed(paneLines(pane, WHOLE).lines)}`);
      await writeOut(paper.stdout, '\n');
    },
    async end({ exchange, notes, trouble }: Ending) {
      const panes = exchange ? panesOf(exchange, supports) : null;
      const warnings = [...notes, ...warningsOf(history, exchange), ...(panes?.warnings ?? [])];
      if (!paper.quiet) for (const warning of counted(warnings)) paper.stderr.write(warningText(warning));
      if (trouble) paper.stderr.write(troubleText(trouble));
    },
  };
}

/** A view that has just changed, between empty lines; nothing where it was cleared. */
function viewLines({ threads }: History, { thread = '' }: Event, arrival: Arrival | null): Line[] {
  const { message, verdict } = arrival ?? {};
  if (verdict?.kind !== 'noted' || message?.type !== 'view_update') return [];
  const view = threads.get(thread)?.views.get(message.view_type);
  if (!view) return [];
  const { lines, total } = paneLines(viewPane(view), OF_VIEW);
  const rest = total - lines.length;
  return [[], ...lines, ...(rest > 0 ? [[say(`… ${rest} more lines`, 'dim')]] : []), []];
}

/** In a file or a pipe this is a log, and a consent URL whole belongs before the user only (RT-OAUTH). */
function authUrls() {
  const known = new Map<string, string>();
  return {
    learn({ message }: Arrival): void {
      if (message?.type === 'oauth') known.set(visibleLine(message.auth_url), bareUrl(message.auth_url));
    },
    without(text: string): string {
      let clean = text;
      for (const [url, bare] of known) clean = clean.replaceAll(url, bare);
      return clean;
    },
  };
}
