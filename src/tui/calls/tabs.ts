import type { Highlighter } from '../../display/syntax.js';
import type { Content } from '../../events/content.js';
import type { Event } from '../../events/events.js';
import type { View } from '../../events/history.js';
import { jsonLine, type Line, quote, say } from '../../render/line.js';
import type { Pane } from '../../render/panes.js';
import { paneHeading, viewPane } from '../../render/panes.js';
import { type Step, stepLine } from '../../render/steps.js';
import {
  bodyText,
  endHead,
  type Leg,
  lineBelow,
  requestHead,
  type ToldEvent,
  toldBytes,
  toldEventLines,
} from '../../render/wire.js';
import { Memo, onceEach } from '../../util/collections.js';
import { prettyJson } from '../../util/json-format.js';
import type { Redactor } from '../../util/redact.js';
import {
  type Document,
  joinedDocument,
  type Look,
  linesDocument,
  Pile,
  paneDocument,
  textDocument,
} from '../document/documents.js';

/** A document under a title. */
export interface Part {
  readonly title: Line;
  readonly document: Document;
  /** The pane that is drawn in it, if any. */
  readonly pane: Pane | null;
  /** It grows at its end: a reader who is at the end stays at the end. */
  readonly isStream?: true;
}

/** The contents of a tab: parts that are shown beside or below each other. */
export interface Sheet {
  readonly parts: readonly Part[];
}

/** How the user wants to see a sheet. The tabs know the highlighter. */
export interface SheetLook extends Omit<Look, 'highlighter'> {
  /** In the timeline: each message as it was on the wire. */
  readonly showsBytes: boolean;
}

/** Makes the sheet of a tab for one call; returns the same sheet while nothing in it has changed. */
export type SheetOf = (look: SheetLook) => Sheet;

export const NO_SHEET: Sheet = { parts: [] };

/** A sheet of one part. */
export function onePart(title: Line, lines: readonly Line[]): Sheet {
  return { parts: [{ title, document: linesDocument(lines), pane: null }] };
}

/** Draws a pane as a part, once for each look. Only a diff looks different under another look. */
export function panePart(pane: Pane): (look: Look) => Part {
  const whole = new Memo<Part>();
  const split = new Memo<Part>();
  return look => {
    const { isSplit, isUnfolded, highlighter } = look;
    if (pane.drawing.kind !== 'diff') return whole.of([], () => lazyPart(pane, look));
    return (isSplit ? split : whole).of([isUnfolded, highlighter], () => lazyPart(pane, look));
  };
}

/** The document is laid out when it is first read: the width, and so the look, depends on the number of parts. */
function lazyPart(pane: Pane, look: Look): Part {
  let made: Document | null = null;
  return {
    title: paneHeading(pane),
    pane,
    get document() {
      made ??= paneDocument(pane, look);
      return made;
    },
  };
}

interface Judging {
  /** Changes when the call has to be judged again. */
  readonly age: () => number;
  readonly judge: () => Promise<readonly Line[]>;
  readonly redactor: Redactor;
  /** Called when the sheet has changed without an event. */
  readonly onChange: () => void;
}

const PROBLEMS: Line = [say('PROBLEMS', 'title'), say(' by the requirements of the protocol', 'dim')];

/** The broken requirements, with proof. Judges only while the tab is shown, one run at a time; until a run is over, the old sheet stays. */
export function problemsTab({ age, judge, redactor, onChange }: Judging): SheetOf {
  let sheet = onePart(PROBLEMS, [[say('judging …', 'running')]]);
  let judgedAt = -1;
  let isJudging = false;
  const run = async () => {
    isJudging = true;
    judgedAt = age();
    sheet = onePart(PROBLEMS, await judge().catch(error => failedToJudge(error, redactor)));
    isJudging = false;
    onChange();
  };
  return () => {
    if (judgedAt !== age() && !isJudging) void run();
    return sheet;
  };
}

function failedToJudge(error: unknown, redactor: Redactor): readonly Line[] {
  const why = error instanceof Error ? error.message : String(error);
  return [[say('✗ ', 'bad'), say('could not check this call: '), ...quote(redactor.text(why))]];
}

/** The events of one call. */
export interface Story {
  /** All that happened so far and is remembered; it only grows. */
  readonly told: readonly ToldEvent[];
  /** The number of events that are no longer remembered. */
  readonly forgotten: number;
  /** The steps that the call is waiting in now. */
  readonly running: readonly Step[];
}

/** Every event of the call with its offset, and the steps that it completed; with bytes, each message below its event. */
export function timelineTab(story: Story, redactor: Redactor): SheetOf {
  const bare = growingTimeline(story, (each, begunAt) => toldEventLines(each, begunAt, redactor));
  const withBytes = growingTimeline(story, (each, begunAt) => {
    const [event = [], ...steps] = toldEventLines(each, begunAt, redactor);
    return [event, ...toldBytes(each, redactor), ...steps];
  });
  return ({ showsBytes }) => (showsBytes ? withBytes() : bare());
}

/** Adds only the lines of new events. */
function growingTimeline(
  story: Story,
  linesOf: (each: ToldEvent, begunAt: number) => readonly Line[],
): () => Sheet {
  const sheets = new Memo<Sheet>();
  const lines: Line[] = [];
  let count = 0;
  return () => {
    const { told, forgotten, running } = story;
    const begunAt = told[0]?.event.at ?? 0;
    for (const each of told.slice(count)) lines.push(...linesOf(each, begunAt));
    count = told.length;
    return sheets.of([count], () => {
      const gone = forgotten > 0 ? `, ${forgotten} more forgotten` : '';
      const title = [say('TIMELINE', 'title'), say(` ${count} event${count === 1 ? '' : 's'}${gone}`, 'dim')];
      const document = linesDocument([...lines, ...running.map(step => lineBelow(stepLine(step)))]);
      return { parts: [{ title, document, pane: null, isStream: true }] };
    });
  };
}

/** The current views, each as a part (RT-VIEW). @param none shown if absent */
export function viewsSheet(
  highlighter: () => Highlighter | null,
  none: string,
): (views: Iterable<View>, look: SheetLook) => Sheet {
  const sheets = new Memo<Sheet>();
  const drawOf = onceEach((view: View) => panePart(viewPane(view)));
  const empty = onePart([say('VIEWS', 'title')], [[say(none, 'dim')]]).parts;
  return (views, look) => {
    const drawn = Array.from(views, view => drawOf(view)({ ...look, highlighter: highlighter() }));
    const parts = drawn.length > 0 ? drawn : empty;
    return sheets.of(parts, () => ({ parts }));
  };
}

/** Each request with its response, in the style of curl, without secrets (threats, row 25). */
export function wireTab(story: Pick<Story, 'told'>, redactor: Redactor): SheetOf {
  const sheets = new Memo<Sheet>();
  const draw = requestDrawing(redactor);
  const drawOpen = onceEach(draw);
  const open = new Map<string, Leg>();
  const over = new Pile<Leg>(draw);
  let seen = 0;
  /** Requests that are over, up to the first that is not, are laid out once; the others anew each time. */
  const update = () => {
    for (const { event } of story.told.slice(seen)) applyTo(open, event);
    seen = story.told.length;
    for (const [id, request] of open) {
      if (request.end === null) break;
      over.add(request);
      open.delete(id);
    }
  };
  return () =>
    sheets.of([story.told.length], () => {
      update();
      const count = over.count + open.size;
      const about = ` ${count} request${count === 1 ? '' : 's'}, secrets taken out`;
      const document = joinedDocument([over.document, ...Array.from(open.values(), drawOpen)]);
      return {
        parts: [
          {
            title: [say('WIRE', 'title'), say(about, 'dim')],
            document: count === 0 ? NOTHING_SENT : document,
            pane: null,
          },
        ],
      };
    });
}

const NOTHING_SENT = linesDocument([[say('nothing was sent', 'dim')]]);

const BLANK = linesDocument([[]]);

function applyTo(open: Map<string, Leg>, event: Event): void {
  if (event.kind === 'request') open.set(event.leg, { request: event, end: null });
  else if (event.kind === 'response' || event.kind === 'broken') {
    const known = open.get(event.leg);
    if (known) open.set(event.leg, { ...known, end: event });
  }
}

/** Bodies from this size on stay laid out: a body may be 50 MiB, and is redacted once. */
const LARGE_BODY = 64 * 1024;

function requestDrawing(redactor: Redactor): (request: Leg) => Document {
  const lay = (body: Content) => {
    const text = bodyText(body, redactor) ?? '';
    const pretty = prettyJson(text);
    if (pretty === null) return textDocument(text);
    const document = textDocument(pretty);
    return { ...document, line: (index: number) => jsonLine(document.line(index)) };
  };
  const layOnce = onceEach(lay);
  const bodyOf = (body: Content | undefined) =>
    body && body.size > 0 ? [BLANK, (body.size < LARGE_BODY ? lay : layOnce)(body), BLANK] : [];
  return leg =>
    joinedDocument([
      linesDocument(requestHead(leg.request, redactor)),
      ...bodyOf(leg.request.body),
      linesDocument(endHead(leg, redactor)),
      ...(leg.end?.kind === 'response' ? bodyOf(leg.end.body) : []),
      BLANK,
    ]);
}
