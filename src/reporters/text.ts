import { llmTextOf } from '../exchange/ending.js';
import type { History } from '../exchange/history.js';
import { newArrivalOf } from '../story/arrival-of.js';
import { eventOf } from '../story/steps/events.js';
import { counted, warningsOf } from '../story/warnings.js';
import { writeOut } from '../system/output.js';
import { visible } from '../text/visible.js';
import { toWellFormed } from '../text/well-formed.js';
import type { Ending, Paper, Reporter } from './reporter.js';
import { troubleText, warningText } from './trouble.js';
import { urgentTeller } from './urgent.js';

export interface TextOptions {
  readonly isTTY: boolean;
  /** `--follow`: the LLM gets the text of each event too, each on a line of its own. */
  readonly follows?: boolean;
}

/** Stdout is exactly what the LLM gets; everything else goes to stderr. On a terminal the text is made safe first. */
export function textReporter(
  history: History,
  paper: Paper,
  { isTTY, follows = false }: TextOptions,
): Reporter {
  const { stdout, stderr, quiet } = paper;
  const told = new Set<string>();
  const urgent = urgentTeller(history, paper, told);
  const page = textPage(stdout, isTTY);
  return {
    event(event) {
      urgent(event);
      const arrival = follows ? newArrivalOf(history, event) : null;
      const news = arrival && eventOf(arrival);
      if (news) page.add(news.text);
    },
    async settled({ exchange }: Ending) {
      const text = exchange && llmTextOf(exchange);
      if (text !== null && text !== undefined) page.begin(text);
      await page.written();
    },
    async end({ exchange, notes, trouble }: Ending) {
      await page.written();
      const warnings = [...notes, ...warningsOf(history, exchange)];
      // What went wrong with a callback is told again only where it explains why there is no result.
      const untold = warnings.filter(({ id, message }) => !told.has(message) || (trouble && id));
      if (!quiet) for (const warning of counted(untold)) stderr.write(warningText(warning));
      if (trouble) stderr.write(troubleText(trouble));
    },
  };
}

/** One text after the other, the result's first: an event may come before that could be told. */
function textPage(stdout: NodeJS.WritableStream, isTTY: boolean) {
  const early: string[] = [];
  let hasBegun = false;
  let writing = Promise.resolve();
  const write = (text: string, before: string) => {
    const shown = isTTY ? `${visible(text)}\n` : before + toWellFormed(text).text;
    writing = writing.then(() => writeOut(stdout, shown));
    writing.catch(() => {}); // whoever awaits `written()` hears of it
  };
  const add = (text: string) => write(text, '\n');
  return {
    begin(text: string): void {
      hasBegun = true;
      write(text, '');
      early.forEach(add);
    },
    add: (text: string) => (hasBegun ? add(text) : void early.push(text)),
    written: () => writing,
  };
}
