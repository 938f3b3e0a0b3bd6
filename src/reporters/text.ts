import { llmTextOf } from '../exchange/ending.js';
import type { History } from '../exchange/history.js';
import { newArrivalOf } from '../story/arrival-of.js';
import { eventOf } from '../story/steps/events.js';
import { untold, warningsOf } from '../story/warnings.js';
import { visible } from '../text/visible.js';
import { toWellFormed } from '../text/well-formed.js';
import { Page } from './page.js';
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
  const page = new Page(stdout, count => `… ${count} events that came while nobody read are not here\n`);
  const texts = textPage(page, isTTY);
  return {
    event(event) {
      urgent(event);
      const arrival = follows ? newArrivalOf(history, event) : null;
      const news = arrival && eventOf(arrival);
      if (news) texts.add(news.text);
    },
    async settled({ exchange }: Ending) {
      const text = exchange && llmTextOf(exchange);
      const isSubscribed = follows && exchange?.subscription != null;
      if (text !== null && text !== undefined) texts.begin(text, isSubscribed);
      await page.written();
    },
    async end({ exchange, notes, trouble }: Ending) {
      await page.written();
      const warnings = [...notes, ...warningsOf(history, exchange)];
      if (!quiet) for (const warning of untold(warnings, told)) stderr.write(warningText(warning));
      if (trouble) stderr.write(troubleText(trouble));
    },
  };
}

/** One text after the other, the result's first: an event may come before that could be told. */
function textPage(page: Page, isTTY: boolean) {
  const early: string[] = [];
  let hasBegun = false;
  const shown = (text: string) => (isTTY ? `${visible(text)}\n` : toWellFormed(text).text);
  const add = (text: string) => page.news(() => (isTTY ? shown(text) : `${shown(text)}\n`));
  return {
    /** @param goesOn events may follow it: each is a line, so it is one too */
    begin(text: string, goesOn: boolean): void {
      hasBegun = true;
      page.write(goesOn && !isTTY && !text.endsWith('\n') ? `${shown(text)}\n` : shown(text));
      early.forEach(add);
    },
    add: (text: string) => (hasBegun ? add(text) : void early.push(text)),
  };
}
