import type { Content } from '../../../exchange/content.js';
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
  const documentOf = drawnOnce(redactor);
  return () => {
    const { told } = story;
    return sheets.of([told.length], () => {
      const legs = legsOf(told);
      const document = joinedDocument(legs.length > 0 ? legs.flatMap(documentOf) : [NOTHING]);
      return { parts: [{ title: titleOf(legs.length), document, pane: null }] };
    });
  };
}

/** In the order of the requests. */
function legsOf(told: readonly ToldEvent[]): readonly Leg[] {
  const legs = new Map<string, Leg>();
  for (const { event } of told) {
    if (event.kind === 'request') legs.set(event.leg, { request: event, end: null });
    if (event.kind !== 'response' && event.kind !== 'broken') continue;
    const leg = legs.get(event.leg);
    if (leg) legs.set(event.leg, { ...leg, end: event });
  }
  return [...legs.values()];
}

function titleOf(count: number): Line {
  return [say('WIRE', 'title'), say(` ${count} request${count === 1 ? '' : 's'}, secrets taken out`, 'dim')];
}

const NOTHING = linesDocument([[say('nothing was sent', 'dim')]]);
const BLANK = linesDocument([[]]);

/** A body may be 50 MiB: its secrets are taken out once. */
function drawnOnce(redactor: Redactor): (leg: Leg) => readonly Document[] {
  const bodyOf = onceEach((body: Content) => bodyDocument(body, redactor));
  const below = (body: Content | undefined) => (body && body.size > 0 ? [BLANK, bodyOf(body), BLANK] : []);
  return leg => [
    linesDocument(requestHead(leg.request, redactor)),
    ...below(leg.request.body),
    linesDocument(endHead(leg, redactor)),
    ...(leg.end?.kind === 'response' ? below(leg.end.body) : []),
    BLANK,
  ];
}

function bodyDocument(body: Content, redactor: Redactor): Document {
  const text = bodyText(body, redactor) ?? '';
  return textDocument(prettyJson(text) ?? text);
}
