import type { Highlighter } from '../../display/syntax.js';
import { weightOf } from '../../events/bounded-events.js';
import type { Content } from '../../events/content.js';
import type { Event } from '../../events/events.js';
import type { View } from '../../events/history.js';
import { type Line, quote, say } from '../../render/line.js';
import { paneHeading, viewPane } from '../../render/pane-lines.js';
import type { Pane } from '../../render/panes.js';
import type { Step } from '../../render/step-arrivals.js';
import { stepLine } from '../../render/steps.js';
import { cutLine, dressLine, type Theme, widthOf } from '../../render/terminal/theme.js';
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
import { Memo } from '../../util/bounded.js';
import { prettyJson } from '../../util/json-pretty.js';
import { cleanWords, type Redactor } from '../../util/redact.js';
import { onceEach } from '../../util/safe-to-visit.js';
import {
  type Document,
  joinedDocument,
  type Look,
  linesDocument,
  Pile,
  paneDocument,
  textDocument,
} from '../document/documents.js';
import {
  chosenLine,
  filled,
  firstSeen,
  joined,
  type Shares,
  type Split,
  splitOf,
  wrapLines,
} from '../layout.js';
import type { Column } from '../list.js';
import type { Size } from '../terminal.js';

/** A document under a heading. */
export interface Part {
  readonly title: Line;
  readonly document: Document;
  /** What is drawn in it, where it is drawn from a pane. */
  readonly pane: Pane | null;
  /** More is added at its end as time goes on: whoever reads there goes on reading there. */
  readonly isStream?: true;
}

/** What a tab shows: parts that stand beside or below each other. */
export interface Sheet {
  readonly parts: readonly Part[];
}

/** How a person wants to see it. Who draws knows the highlighter. */
export interface SheetLook extends Omit<Look, 'highlighter'> {
  /** Of the timeline: each message as it was on the wire. */
  readonly showsBytes: boolean;
}

/** Makes a tab's sheet for one call; the same one as long as nothing of it changed. */
export type Tabbed = (look: SheetLook) => Sheet;

export const NO_SHEET: Sheet = { parts: [] };

/** Draws a pane as a part, once for each look: a text is the same under each. */
export function panePart(pane: Pane): (look: Look) => Part {
  const whole = new Memo<Part>();
  const split = new Memo<Part>();
  return look => {
    const { isSplit, isUnfolded, highlighter } = look;
    if (pane.drawing.kind !== 'diff') return whole.of([], () => partOf(pane, look));
    return (isSplit ? split : whole).of([isUnfolded, highlighter], () => partOf(pane, look));
  };
}

/** Nothing is laid out before it is read: how wide a part is, and so how it looks, depends on how many there are. */
function partOf(pane: Pane, look: Look): Part {
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

/** A call that can be judged. */
export interface Judged {
  /** It is to be judged anew when this is another one. */
  readonly age: number;
  judge(): Promise<readonly Line[]>;
}

interface ProblemsOptions {
  readonly redactor: Redactor;
  /** The sheet is another one now, though no event came. */
  readonly onChange: () => void;
}

/**
 * Which requirements were broken, with the proof. They are judged in the background, once at a time, and only while somebody looks:
 * until that is done, the sheet is as it was before.
 */
export function problemsTab(call: Judged, { redactor, onChange }: ProblemsOptions): Tabbed {
  const sheets = new Memo<Sheet>();
  let lines: readonly Line[] = [[say('judging …', 'running')]];
  let judgedAt = -1;
  let isJudging = false;
  const judge = async (): Promise<void> => {
    isJudging = true;
    judgedAt = call.age;
    lines = await judged(call, redactor);
    isJudging = false;
    onChange();
  };
  return () => {
    if (judgedAt !== call.age && !isJudging) void judge();
    return sheets.of([lines], () => ({
      parts: [{ title: TITLE, document: linesDocument(lines), pane: null }],
    }));
  };
}

const TITLE: Line = [say('PROBLEMS', 'title'), say(' by the requirements of the protocol', 'dim')];

/** A rule that fails says so, and takes nothing else with it. */
async function judged(call: Judged, redactor: Redactor): Promise<readonly Line[]> {
  try {
    return await call.judge();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [[say('✗ ', 'bad'), say('it could not be judged: '), ...quote(cleanWords(redactor, why))]];
  }
}

/** A call by itself, event by event. */
export interface Story {
  /** All that has happened by now and is remembered; it only grows. */
  readonly told: readonly ToldEvent[];
  /** How many events are not remembered any more. */
  readonly forgotten: number;
  /** What it waits for now. */
  readonly running: readonly Step[];
}

/** `12 events, 300 more forgotten` */
function countedWords(count: number, what: string, forgotten: number): string {
  const gone = forgotten > 0 ? `, ${forgotten} more forgotten` : '';
  return `${count} ${what}${count === 1 ? '' : 's'}${gone}`;
}

/** Every event of the call with its offset, and the steps that it brought to an end; with bytes, each message below its event. */
export function timelineTab(story: Story, redactor: Redactor): Tabbed {
  const bare = telling(story, (each, begunAt) => toldEventLines(each, begunAt, redactor));
  const withBytes = telling(story, (each, begunAt) => withBytesLines(each, begunAt, redactor));
  return ({ showsBytes }) => (showsBytes ? withBytes() : bare());
}

/** What was told stays told: only what came since is added. */
function telling(story: Story, tell: (each: ToldEvent, begunAt: number) => readonly Line[]): () => Sheet {
  const sheets = new Memo<Sheet>();
  const lines: Line[] = [];
  let count = 0;
  return () => {
    const { told } = story;
    const begunAt = told[0]?.event.at ?? 0;
    for (const each of told.slice(count)) lines.push(...tell(each, begunAt));
    count = told.length;
    return sheets.of([count], () =>
      sheetOf([...lines, ...story.running.map(runningLine)], countedWords(count, 'event', story.forgotten)),
    );
  };
}

function withBytesLines(each: ToldEvent, begunAt: number, redactor: Redactor): readonly Line[] {
  const [event = [], ...steps] = toldEventLines(each, begunAt, redactor);
  return [event, ...toldBytes(each, redactor), ...steps];
}

function runningLine(step: ToldEvent['steps'][number]): Line {
  return lineBelow(stepLine(step));
}

function sheetOf(lines: readonly Line[], about: string): Sheet {
  const title: Line = [say('TIMELINE', 'title'), say(` ${about}`, 'dim')];
  return { parts: [{ title, document: linesDocument(lines), pane: null, isStream: true }] };
}

/** Views as they are now, each a part (RT-VIEW). @param none what is said where there are none */
export function viewsSheet(
  highlighter: () => Highlighter | null,
  none: string,
): (views: Iterable<View>, look: SheetLook) => Sheet {
  const sheets = new Memo<Sheet>();
  const drawOf = onceEach((view: View) => panePart(viewPane(view)));
  const empty: readonly Part[] = [
    { title: VIEWS_TITLE, document: linesDocument([[say(none, 'dim')]]), pane: null },
  ];
  return (views, look) => {
    const drawn = Array.from(views, view => drawOf(view)({ ...look, highlighter: highlighter() }));
    const parts = drawn.length > 0 ? drawn : empty;
    return sheets.of(parts, () => ({ parts }));
  };
}

const VIEWS_TITLE: Line = [say('VIEWS', 'title')];

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

/** The tabs of a sheet, by number. */
export interface Tabs {
  readonly titles: readonly string[];
  /** By its index. */
  readonly chosen: number;
}

/** Where there is no room for all titles, that of the chosen one is enough. */
function tabsLine({ titles, chosen }: Tabs, columns: number): Line {
  const titled = (isShort: boolean) =>
    titles.map((title, index) => ({
      text: isShort && index !== chosen ? `${index + 1}` : `${index + 1} ${title}`,
      isChosen: index === chosen,
    }));
  const whole = chosenLine(titled(false));
  return cutLine(widthOf(whole) <= columns ? whole : chosenLine(titled(true)), columns);
}

/** Some of the calls as a table with its head. */
export interface SeenTable {
  readonly lines: readonly Line[];
  /** What it says changes as time goes on. */
  readonly isRunning: boolean;
}

/** Calls from one index up to another, and which of all is selected. */
export interface SeenCalls {
  readonly from: number;
  readonly to: number;
  readonly selected: number;
}

export interface CallsScene {
  readonly count: number;
  readonly selected: number;
  readonly focus: 'list' | number;
  readonly tabs: Tabs;
  /** Where the list and the sheet stand beside each other. */
  readonly shares: CallsShares;
  /** Where there is no call yet. */
  readonly empty: readonly Line[];
  /** Only calls that are seen are looked at: there may be thousands. */
  readonly table: (seen: SeenCalls, columns: number) => SeenTable;
  /** The sheet of the selected call, in this much room. */
  readonly sheet: (size: Size) => readonly string[];
}

export type CallsShares = Readonly<Record<'list' | 'reading', Omit<Shares, 'wanted'>>>;

/** Where the list and the sheet stand: who reads on a small screen reads one call, and sees no list. */
export function callsSplit(
  { count, focus, shares }: Pick<CallsScene, 'count' | 'focus' | 'shares'>,
  size: Size,
): Split {
  const { list, reading } = shares;
  if (focus === 'list') return splitOf(size, { ...list, wanted: count + 1 });
  if (size.columns >= reading.wide) return splitOf(size, { ...reading, wanted: count + 1 });
  return { isBeside: false, list: { columns: size.columns, rows: 0 }, details: size };
}

/** The room that a sheet has below its tabs. */
export function sheetSize({ details }: Split): Size {
  return { columns: details.columns, rows: Math.max(0, details.rows - 1) };
}

/** The calls, and the sheet of the selected one. */
export function callsPage(
  scene: CallsScene,
  size: Size,
  theme: Theme,
): { readonly rows: readonly string[]; readonly isRunning: boolean } {
  const { count, empty, tabs } = scene;
  if (count === 0)
    return { rows: filled(wrapLines(empty, size.columns, theme), size.rows), isRunning: false };
  const split = callsSplit(scene, size);
  const heading = dressLine(tabsLine(tabs, split.details.columns), theme);
  const details = split.details.rows > 0 ? [heading, ...scene.sheet(sheetSize(split))] : [];
  if (split.list.rows === 0) return { rows: filled(details, size.rows), isRunning: false };
  const { lines, isRunning } = listed(scene, split.list);
  const list = lines.map(line => dressLine(line, theme));
  return { rows: joined(split, [list, details], theme), isRunning };
}

function listed({ count, selected, table }: CallsScene, { columns, rows }: Size): SeenTable {
  const height = Math.max(1, rows - 1);
  const from = firstSeen(count, selected, height);
  return table({ from, to: Math.min(count, from + height), selected }, columns);
}

/** A tab beside the one that is open. */
export interface OtherTab<Tab extends string> {
  readonly tab: Tab;
  readonly title: string;
  /** That shows it. */
  readonly key: string;
}

/** Bytes of a call's events: the sheets of a heavier one are not made for a search alone. */
const MOST = 2 * 1024 * 1024;

/** The tabs where something may be found that is not in this one; problems are only judged for whoever looks at them. */
export function otherTabs<Tab extends string>(
  tabs: readonly Tab[],
  titles: readonly string[],
  here: Tab,
  events: readonly Event[],
): readonly OtherTab<Tab>[] {
  if (isHeavy(events)) return [];
  return tabs.flatMap((tab, index) =>
    tab === here || tab === 'problems' ? [] : [{ tab, title: titles[index] ?? tab, key: `${index + 1}` }],
  );
}

function isHeavy(events: readonly Event[]): boolean {
  let bytes = 0;
  return events.some(event => {
    bytes += weightOf(event);
    return bytes > MOST;
  });
}

/** What is known by now of the problems of a call. */
export interface ProblemCount {
  /** Requirements. */
  readonly broken: number;
  /** It is too much to be judged unasked, and nobody asked. */
  readonly isLeft: boolean;
}

/** The last tab is that of the problems: how many there are stands where one can read which; `?` where nobody looked. */
export function titlesWith(titles: readonly string[], { broken, isLeft }: ProblemCount): readonly string[] {
  if (broken === 0 && !isLeft) return titles;
  return titles.with(-1, `${titles.at(-1)} ${isLeft ? '?' : broken}`);
}

/** What every list of calls begins with, on whichever side. */
export const CALL_COLUMNS = [
  { name: 'time', title: '   TIME', most: 10 },
  { name: 'operation', title: 'OPERATION', most: 24 },
  { name: 'id', title: 'ID', most: 16 },
  { name: 'thread', title: 'THREAD', most: 16 },
] as const satisfies readonly Column<string>[];

/** Events of a call that is over. */
const LONGEST = 200;
/** Bytes of its bodies: to judge them takes several times as many. */
const LARGEST = 1024 * 1024;

/** Whether it takes no time and no memory worth mentioning to judge a call by its events. */
export function isLightToJudge(events: readonly Event[], longest = LONGEST): boolean {
  return events.length <= longest && sizeOf(events) <= LARGEST;
}

function sizeOf(events: readonly Event[]): number {
  return events.reduce((bytes, event) => bytes + ('body' in event ? (event.body?.size ?? 0) : 0), 0);
}
