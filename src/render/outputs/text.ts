import { llmTextOf } from '../../events/exchange.js';
import { streamTranscript, type TranscriptAbout } from '../../events/transcript-writer.js';
import type { Warning } from '../../protocol/requirements.js';
import { visible } from '../../util/visible.js';
import { eventOf, newArrivalOf } from '../callbacks.js';
import { warningsOfEnding } from '../warnings.js';
import type { Ending, Page, Reporter } from './reporter.js';

/** Prints every event as it happens: a transcript on stdout. */
export function ndjsonReporter(page: Page, about: TranscriptAbout): Reporter<Pick<Ending, 'trouble'>> {
  const transcript = streamTranscript(page.out, page.redactor, about);
  return {
    event(event) {
      page.urgent(event);
      transcript.event(event);
    },
    end({ trouble }) {
      transcript.end(trouble?.code ?? 'done');
      return page.end([], trouble);
    },
  };
}

/**
 * Prints to stdout exactly what the LLM gets, and everything else to stderr. On a terminal the text is made safe first.
 * @param follows `--follow`: also prints the text of each event, each on its own line
 */
export function textReporter(page: Page, follows = false): Reporter {
  const texts = textPage(page);
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
      await page.out.written();
    },
    async end(ending) {
      await page.end(warningsOfEnding(ending, await displayWarnings(ending)), ending.trouble);
    },
  };
}

/** Warnings about `display_as`, read after the text is printed: a result without it needs none of that code. */
async function displayWarnings({ exchange }: Ending): Promise<readonly Warning[]> {
  const { settled = null } = exchange ?? {};
  if (settled?.by !== 'result' || settled.result.display_as === undefined) return [];
  const { chooseSegment, knownTypes } = await import('../../segments/segments.js');
  return chooseSegment(settled.result.display_as, knownTypes).warnings;
}

/** Writes the result's text first, then one text after the other: an event may arrive before the result is printed. */
function textPage(page: Page) {
  const { isTTY } = page;
  const early: string[] = [];
  let hasBegun = false;
  const shown = (text: string) => (isTTY ? `${visible(text)}\n` : text.toWellFormed());
  const add = (text: string) => page.out.news(() => [isTTY ? shown(text) : `${shown(text)}\n`]);
  return {
    /** @param goesOn events may follow, so the text ends with a line feed */
    begin(text: string, goesOn: boolean): void {
      hasBegun = true;
      page.isMidLine = !isTTY && !goesOn && !text.endsWith('\n') && text !== '';
      page.out.write(goesOn && !isTTY && !text.endsWith('\n') ? `${shown(text)}\n` : shown(text));
      early.forEach(add);
    },
    add: (text: string) => (hasBegun ? add(text) : void early.push(text)),
  };
}
