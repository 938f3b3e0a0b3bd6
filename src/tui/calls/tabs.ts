import { Highlighter, loadLexers } from '../../display/syntax.js';
import type { Content } from '../../events/content.js';
import type { Event } from '../../events/events.js';
import type { View } from '../../events/history.js';
import { RoundTrip } from '../../events/round-trips.js';
import type { Step } from '../../render/callbacks.js';
import type { ProblemLines } from '../../render/check-report.js';
import { counted, jsonLine, type Line, quote, say } from '../../render/line.js';
import { type Pane, paneHeading, viewPane } from '../../render/panes.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import { bodyText, type TimelineEntry, timelineLines, tripParts } from '../../render/wire.js';
import { Memo, onceEach, RecentMap } from '../../util/collections.js';
import { prettyJson } from '../../util/json.js';
import type { Redactor } from '../../util/redact.js';
import {
  type Document,
  joinedDocument,
  type Look,
  linesDocument,
  paneDocument,
  textDocument,
} from '../document/documents.js';

export interface Part {
  readonly title: Line;
  readonly document: Document;
  /** The part grows at its end: a reader at the end stays at the end. */
  readonly isStream?: true;
}

export interface Sheet {
  readonly parts: readonly Part[];
}

/** The user's settings for a sheet. The tabs add the highlighter. */
export interface SheetLook extends Omit<Look, 'highlighter'> {
  /** Shows the raw message of each event in the timeline. */
  readonly showsBytes: boolean;
}

/** Creates the sheet of a tab for one call. Large contents are laid out once. */
export type SheetOf = (look: SheetLook) => Sheet;

export function onePart(title: Line, lines: readonly Line[]): Sheet {
  return { parts: [{ title, document: linesDocument(lines) }] };
}

/** Minimum number of calls whose sheets are cached: users go back and forth between a few. */
const KEPT = 4;

export class KeptSheets<Tab extends string> {
  readonly #kept = new RecentMap<string, { readonly source: unknown; readonly tabs: Record<Tab, SheetOf> }>(
    KEPT,
  );

  /** @param source the data of the sheets; another source recreates them */
  of(key: string, source: unknown, make: () => Record<Tab, SheetOf>): Record<Tab, SheetOf> {
    const known = this.#kept.get(key);
    const tabs = known?.source === source && known ? known.tabs : make();
    this.#kept.set(key, { source, tabs });
    return tabs;
  }
}

/** Loads the syntax highlighter, which takes a moment, as soon as there is code to colour, and colours are enabled. */
export class Highlighting {
  current: Highlighter | null = null;
  #isAsked = false;

  constructor(
    private readonly level: ColourLevel,
    private readonly onLoad: () => void,
  ) {}

  ask(): void {
    if (this.#isAsked || this.level < 2) return;
    this.#isAsked = true;
    void loadLexers().then(({ lexerFor }) => {
      this.current = new Highlighter(lexerFor);
      this.onLoad();
    });
  }
}

/** Draws a pane as a part, once for each look. Only diffs depend on the look. */
export function panePart(pane: Pane): (look: Look) => Part {
  const whole = new Memo<Part>();
  const split = new Memo<Part>();
  return look => {
    const { isSplit, isUnfolded, highlighter } = look;
    if (pane.drawing.kind !== 'diff') return whole.of([], () => lazyPart(pane, look));
    return (isSplit ? split : whole).of([isUnfolded, highlighter], () => lazyPart(pane, look));
  };
}

/** Lays out the document when it is first read: the width, and with it the look, depends on the number of parts. */
function lazyPart(pane: Pane, look: Look): Part {
  let made: Document | null = null;
  return {
    title: paneHeading(pane),
    get document() {
      made ??= paneDocument(pane, look);
      return made;
    },
  };
}

interface CallTabs extends Judging {
  readonly story: Story;
  /** The events whose requests Wire shows; by default those of the story. */
  readonly wire?: Pick<Story, 'entries'>;
  readonly views: () => Iterable<View>;
  /** Shown without views. */
  readonly noViews: string;
  readonly highlighter: () => Highlighter | null;
}

/** The tabs of any call. */
export function callTabs({ story, wire = story, views, noViews, highlighter, ...judging }: CallTabs) {
  const { redactor } = judging;
  const viewsOf = viewsSheet(noViews);
  return {
    timeline: timelineTab(story, redactor),
    wire: wireTab(wire, redactor),
    views: (look => viewsOf(views(), { ...look, highlighter: highlighter() })) satisfies SheetOf,
    problems: problemsTab(judging),
  };
}

interface Judging {
  /** Whose problems they are, if only one side is checked. */
  readonly about?: string;
  /** Changes when the call has to be checked again. */
  readonly age: () => number;
  readonly judge: () => Promise<ProblemLines>;
  readonly redactor: Redactor;
  readonly onChange: () => void;
}

/**
 * The violated requirements, with evidence. Checks only while the tab is shown, one run at a time; the previous sheet stays until a run
 * ends.
 */
function problemsTab({ about = '', age, judge, redactor, onChange }: Judging): SheetOf {
  const sheets = new Memo<Sheet>();
  let linesOf: ProblemLines = () => [[say('judging …', 'running')]];
  let judgedAt = -1;
  let isJudging = false;
  const failed = (error: unknown): ProblemLines => {
    const why = error instanceof Error ? error.message : String(error);
    return () => [[say('✗ ', 'bad'), say('could not check this call: '), ...quote(redactor.text(why))]];
  };
  const run = async () => {
    isJudging = true;
    judgedAt = age();
    linesOf = await judge().catch(failed);
    isJudging = false;
    onChange();
  };
  return ({ isUnfolded }) => {
    if (judgedAt !== age() && !isJudging) void run();
    return sheets.of([linesOf, isUnfolded], () => problemsSheet(linesOf(isUnfolded), about));
  };
}

function problemsSheet(lines: readonly Line[], about: string): Sheet {
  const title = [say('PROBLEMS', 'title'), say(` ${about}by the requirements of the protocol`, 'dim')];
  return { parts: [{ title, document: { ...linesDocument(lines), isFoldable: () => true } }] };
}

export interface Story {
  /** All events so far that are still remembered; only grows. */
  readonly entries: readonly TimelineEntry[];
  readonly forgotten: number;
  readonly running: readonly Step[];
}

/** Every event of the call with its time, and the steps that it completed; optionally the raw message below its event. */
function timelineTab(story: Story, redactor: Redactor): SheetOf {
  const bare = growingTimeline(story, redactor, false);
  const withBytes = growingTimeline(story, redactor, true);
  return ({ showsBytes }) => (showsBytes ? withBytes() : bare());
}

function growingTimeline(story: Story, redactor: Redactor, showsBytes: boolean): () => Sheet {
  const sheets = new Memo<Sheet>();
  const lines: Line[] = [];
  let count = 0;
  return () => {
    const { entries, forgotten, running } = story;
    const begunAt = entries[0]?.event.at ?? 0;
    for (const each of entries.slice(count))
      lines.push(...timelineLines([each], [], begunAt, redactor, showsBytes));
    count = entries.length;
    return sheets.of([count], () => {
      const gone = forgotten > 0 ? `, ${forgotten} more forgotten` : '';
      const title = [say('TIMELINE', 'title'), say(` ${counted(count, 'event')}${gone}`, 'dim')];
      const document = linesDocument([...lines, ...timelineLines([], running, begunAt, redactor)]);
      return { parts: [{ title, document, isStream: true }] };
    });
  };
}

/** The current views, each as a part (RT-VIEW). @param none shown without views */
function viewsSheet(none: string): (views: Iterable<View>, look: Look) => Sheet {
  const drawOf = onceEach((view: View) => panePart(viewPane(view)));
  const empty = onePart([say('VIEWS', 'title')], [[say(none, 'dim')]]);
  return (views, look) => {
    const parts = Array.from(views, view => drawOf(view)(look));
    return parts.length > 0 ? { parts } : empty;
  };
}

const NOTHING_SENT = linesDocument([[say('nothing was sent', 'dim')]]);

const BLANK = linesDocument([[]]);

/** Each request with its response, as curl shows them, without secrets (threats, row 25). */
function wireTab(story: Pick<Story, 'entries'>, redactor: Redactor): SheetOf {
  const sheets = new Memo<Sheet>();
  const draw = onceEach(requestDrawing(redactor));
  const trips = new Map<string, RoundTrip>();
  let seen = 0;
  return () =>
    sheets.of([story.entries.length], () => {
      for (const { event } of story.entries.slice(seen)) applyTo(trips, event);
      seen = story.entries.length;
      const title = [
        say('WIRE', 'title'),
        say(` ${counted(trips.size, 'request')}, secrets redacted`, 'dim'),
      ];
      const document = trips.size === 0 ? NOTHING_SENT : joinedDocument(Array.from(trips.values(), draw));
      return { parts: [{ title, document }] };
    });
}

function applyTo(trips: Map<string, RoundTrip>, event: Event): void {
  if (event.kind === 'request') trips.set(event.leg, new RoundTrip(event, null));
  else if (event.kind === 'response' || event.kind === 'broken') {
    const known = trips.get(event.leg);
    if (known) trips.set(event.leg, new RoundTrip(known.request, event));
  }
}

function requestDrawing(redactor: Redactor): (trip: RoundTrip) => Document {
  /** Cached: a body may be 50 MiB. */
  const lay = onceEach((body: Content) => {
    const text = bodyText(body, redactor) ?? '';
    const pretty = prettyJson(text);
    if (pretty === null) return textDocument(text);
    const document = textDocument(pretty);
    return { ...document, line: (index: number) => jsonLine(document.line(index)) };
  });
  return trip => {
    const parts = tripParts(trip, redactor).flatMap(part =>
      'bytes' in part ? [BLANK, lay(part), BLANK] : [linesDocument(part)],
    );
    return joinedDocument([...parts, BLANK]);
  };
}
