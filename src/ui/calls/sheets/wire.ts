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
import { type Document, joinedDocument, linesDocument, textDocument } from '../../document/index.js';
import type { Sheet, Tabbed } from './sheet.js';
import type { Story } from './story.js';

/** Each request and its answer, as curl shows them, secrets out (threats, row 25). */
export function wireTab(story: Pick<Story, 'told'>, redactor: Redactor): Tabbed {
  const sheets = new Memo<Sheet>();
  const legsOf = drawing(drawnOnce(redactor));
  return () => {
    const { told } = story;
    return sheets.of([told.length], () => {
      const legs = legsOf(told);
      const document = joinedDocument(legs.length > 0 ? legs : [NOTHING]);
      return { parts: [{ title: titleOf(legs.length), document, pane: null }] };
    });
  };
}

/** In the order of the requests. What is drawn of one stays until it comes to its end: only what came since is looked at. */
function drawing(draw: (leg: Leg) => Document): (told: readonly ToldEvent[]) => readonly Document[] {
  const legs = new Map<string, Leg>();
  const drawn = new Map<string, Document>();
  let count = 0;
  return told => {
    const changed = told.slice(count).flatMap(({ event }) => stepLegs(legs, event));
    for (const name of new Set(changed)) {
      const leg = legs.get(name);
      if (leg) drawn.set(name, draw(leg));
    }
    count = told.length;
    return [...drawn.values()];
  };
}

/** The name of the leg that is another one now. */
function stepLegs(legs: Map<string, Leg>, event: Event): readonly string[] {
  if (event.kind === 'request') legs.set(event.leg, { request: event, end: null });
  else if (event.kind === 'response' || event.kind === 'broken') {
    const leg = legs.get(event.leg);
    if (leg) legs.set(event.leg, { ...leg, end: event });
  } else return [];
  return [event.leg];
}

function titleOf(count: number): Line {
  return [say('WIRE', 'title'), say(` ${count} request${count === 1 ? '' : 's'}, secrets taken out`, 'dim')];
}

const NOTHING = linesDocument([[say('nothing was sent', 'dim')]]);
const BLANK = linesDocument([[]]);

/** A body may be 50 MiB: its secrets are taken out once. */
function drawnOnce(redactor: Redactor): (leg: Leg) => Document {
  const bodyOf = onceEach((body: Content) => bodyDocument(body, redactor));
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
