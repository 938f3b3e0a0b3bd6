import type { Content } from '../../../exchange/content.js';
import type { Event } from '../../../exchange/events.js';
import { endHead, type Leg, requestHead, type ToldEvent } from '../../../story/calls/index.js';
import type { Line } from '../../../story/line.js';
import { bodyText } from '../../../story/message-text.js';
import { say } from '../../../story/spans.js';
import { prettyJson } from '../../../text/json-pretty.js';
import { Memo } from '../../../text/memo.js';
import { onceEach } from '../../../text/once-each.js';
import type { Redactor } from '../../../text/redact.js';
import { type Document, joinedDocument, linesDocument, Pile, textDocument } from '../../document/index.js';
import type { Sheet, Tabbed } from './sheet.js';
import type { Story } from './story.js';

/** Each request and its answer, as curl shows them, secrets out (threats, row 25). */
export function wireTab(story: Pick<Story, 'told'>, redactor: Redactor): Tabbed {
  const sheets = new Memo<Sheet>();
  const draw = drawing(drawnWith(redactor));
  return () => {
    const { told } = story;
    return sheets.of([told.length], () => {
      const { count, document } = draw(told);
      return { parts: [{ title: titleOf(count), document, pane: null }] };
    });
  };
}

interface Drawn {
  /** Of the requests. */
  readonly count: number;
  readonly document: Document;
}

/** In the order of the requests, each laid out where it is read, or not over yet. Those that are over, with all before them, are laid down for good: only the others are joined anew. */
function drawing(draw: (leg: Leg) => Document): (told: readonly ToldEvent[]) => Drawn {
  const drawOpen = onceEach(draw);
  const open = new Map<string, Leg>();
  const over = new Pile<Leg>(draw);
  let seen = 0;
  return told => {
    for (const { event } of told.slice(seen)) stepLegs(open, event);
    seen = told.length;
    for (const [name, leg] of open) {
      if (leg.end === null) break;
      over.add(leg);
      open.delete(name);
    }
    const count = over.count + open.size;
    const parts = [over.document, ...Array.from(open.values(), drawOpen)];
    return { count, document: count === 0 ? NOTHING : joinedDocument(parts) };
  };
}

function stepLegs(legs: Map<string, Leg>, event: Event): void {
  if (event.kind === 'request') legs.set(event.leg, { request: event, end: null });
  else if (event.kind === 'response' || event.kind === 'broken') {
    const leg = legs.get(event.leg);
    if (leg) legs.set(event.leg, { ...leg, end: event });
  }
}

function titleOf(count: number): Line {
  return [say('WIRE', 'title'), say(` ${count} request${count === 1 ? '' : 's'}, secrets taken out`, 'dim')];
}

const NOTHING = linesDocument([[say('nothing was sent', 'dim')]]);
const BLANK = linesDocument([[]]);

/** Bytes of a body from which on it stays laid out. */
const LARGE = 64 * 1024;

/** A body may be 50 MiB: its secrets are taken out once. Those of many requests are small, and would be kept in vain. */
function drawnWith(redactor: Redactor): (leg: Leg) => Document {
  const lay = (body: Content) => bodyDocument(body, redactor);
  const keep = onceEach(lay);
  const bodyOf = (body: Content) => (body.size < LARGE ? lay(body) : keep(body));
  const below = (body: Content | undefined) => (body && body.size > 0 ? [BLANK, bodyOf(body), BLANK] : []);
  return leg =>
    joinedDocument([
      linesDocument(requestHead(leg.request, redactor)),
      ...below(leg.request.body),
      linesDocument(endHead(leg, redactor)),
      ...(leg.end?.kind === 'response' ? below(leg.end.body) : []),
      BLANK,
    ]);
}

function bodyDocument(body: Content, redactor: Redactor): Document {
  const text = bodyText(body, redactor) ?? '';
  return textDocument(prettyJson(text) ?? text);
}
