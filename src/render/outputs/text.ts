import { llmTextOf } from '../../events/exchange.js';
import { type TranscriptAbout, transcriptWriter } from '../../events/transcript-writer.js';
import { visible } from '../../util/visible.js';
import { eventOf, newArrivalOf } from '../callbacks.js';
import { warningsOfEnding } from '../warnings.js';
import type { Ending, Page, Reporter } from './reporter.js';

/** Prints every event as it happens: a transcript on stdout. */
export function ndjsonReporter(page: Page, about: TranscriptAbout): Reporter<Pick<Ending, 'trouble'>> {
  const writer = transcriptWriter(page.redactor);
  const lines = (each: readonly string[]) => each.map(line => `${line}\n`).join('');
  let latest = { seq: 0, at: 0 };
  const why = 'the reader of stdout is too slow; events were dropped';
  page.lostText = count => lines(writer.event({ kind: 'dropped', what: 'event', why, count, ...latest }));
  page.write(lines([writer.header(about)]));
  return {
    event(event) {
      const { seq, at } = event;
      page.urgent(event);
      page.news(() => lines(writer.event(event)));
      latest = { seq, at };
    },
    end({ trouble }) {
      page.last(() => lines([writer.end(trouble?.code ?? 'done')]));
      return page.end([], trouble);
    },
  };
}

interface TextOptions {
  readonly isTTY: boolean;
  /** `--follow`: also prints the text of each event, each on its own line. */
  readonly follows?: boolean;
}

/** Prints to stdout exactly what the LLM gets, and everything else to stderr. On a terminal the text is made safe first. */
export function textReporter(page: Page, { isTTY, follows = false }: TextOptions): Reporter {
  const texts = textPage(page, isTTY);
  return {
    event(event) {
      page.urgent(event);
      const arrival = follows ? newArrivalOf(page.history, event) : null;
      const news = arrival && eventOf(arrival);
      if (news) texts.add(news.text);
    },
    async settled({ exchange }) {
      const text = exchange && llmTextOf(exchange);
      const isSubscribed = follows && exchange?.subscription != null;
      if (text !== null && text !== undefined) texts.begin(text, isSubscribed);
      await page.written();
    },
    end: ending => page.end(warningsOfEnding(ending), ending.trouble),
  };
}

/** Writes the result's text first, then one text after the other: an event may arrive before the result is printed. */
function textPage(page: Page, isTTY: boolean) {
  const early: string[] = [];
  let hasBegun = false;
  const shown = (text: string) => (isTTY ? `${visible(text)}\n` : text.toWellFormed());
  const add = (text: string) => page.news(() => (isTTY ? shown(text) : `${shown(text)}\n`));
  return {
    /** @param goesOn events may follow, so the text ends with a line feed */
    begin(text: string, goesOn: boolean): void {
      hasBegun = true;
      page.write(goesOn && !isTTY && !text.endsWith('\n') ? `${shown(text)}\n` : shown(text));
      early.forEach(add);
    },
    add: (text: string) => (hasBegun ? add(text) : void early.push(text)),
  };
}
