import type { Exchange } from '../../../exchange/exchange.js';
import { eventCount } from '../../../story/calls/index.js';
import type { News } from '../../../story/news.js';
import { Memo } from '../../../text/memo.js';
import type { Part } from '../../calls/sheets/sheet.js';
import { type Document, joinedDocument, linesDocument, Pile, textDocument } from '../../document/index.js';

/** A part with the events of its call's subscription below it, where it has one. */
export type Below = (part: Part, exchange: Exchange, news: readonly News[]) => Part;

/** For the human each event as the story tells it (RT-SUB). */
export function toldBelow(): Below {
  return below(({ told }) => linesDocument([told]));
}

/** The LLM gets each text whole, in a conversation of its own or in this one. */
export function textsBelow(): Below {
  return below(({ heading, text }) => joinedDocument([linesDocument([heading]), textDocument(text)]));
}

/** What is there stays laid out: only what came since is added. */
function below(lay: (news: News) => Document): Below {
  const pile = new Pile(lay);
  const parts = new Memo<Part>();
  return (part, exchange, news) => {
    const { subscription } = exchange;
    if (!subscription) return part;
    for (const each of news.slice(pile.count)) pile.add(each);
    return parts.of([part, subscription], () => joinedPart(part, exchange, pile.document));
  };
}

const BLANK = linesDocument([[]]);

/** Nothing is laid out before it is read. */
function joinedPart(part: Part, exchange: Exchange, events: Document): Part {
  let made: Document | null = null;
  return {
    title: [...part.title, ...eventCount(exchange)],
    pane: part.pane,
    isStream: true,
    get document() {
      made ??= events.length === 0 ? part.document : joinedDocument([part.document, BLANK, events]);
      return made;
    },
  };
}
