import { isUnderWay } from '../../events/exchange.js';
import { type Line, quote, say, textLines } from '../../render/line.js';
import { createTheme, cutLine, dressLine, type Theme, widthOf } from '../../render/terminal/theme.js';
import { toolLines } from '../../render/toolset.js';
import { Highlighting, type Readable, SheetView } from '../calls/details.js';
import { callsPage, otherTabs } from '../calls/tabs.js';
import { frameOf, type Plan, planOf as planAround } from '../full-screen/full-screen.js';
import { promptLine } from '../keys.js';
import {
  type Choosable,
  chosenLine,
  filled,
  firstSeen,
  joined,
  reading,
  splitOf,
  wrapLines,
} from '../layout.js';
import type { Size } from '../terminal.js';
import { callsSceneOf, footLine, type Matters, PROMPTS, sheetRoom } from './calls-page.js';
import { drawForm } from './form/draw.js';
import { askedBy, OverlayPages } from './keys.js';
import { rivalsAt, rivalWords, type Server, type SessionOptions, type World } from './model.js';
import {
  type Entry,
  entriesOf,
  entryIndex,
  type Filling,
  firstLineOf,
  isRunAgain,
  isUnderWay as isSent,
  type Looking,
  lookingAt,
  openQuestion,
  type State,
  selectedEntry,
} from './state.js';
import { Sheets, TABS, type Tab, TITLES, Verdicts } from './tabs.js';

interface HeadPage extends Choosable {
  /** Its beginning says enough, where there is no room for all of it. */
  readonly isName?: true;
}

/** What stands in the first row. */
interface Heading {
  readonly pages: readonly HeadPage[];
  /** What is looked at, at the right. */
  readonly about: string;
}

const PROGRAM: Line = [say('protocol-cli  ', 'dim')];
/** Cells of what is looked at, below which it says nothing. */
const LEAST_ABOUT = 12;
/** Cells of the name of a page, below which it says nothing. */
const LEAST_NAME = 7;

/** The pages, all of them, and what is looked at as far as there is room for it: long names make room first. */
function headLine({ pages, about }: Heading, columns: number): Line {
  const looked = quote(about, 'dim');
  const line = pagesLine(pages, columns - Math.min(LEAST_ABOUT, widthOf(looked)) - 2, columns);
  const room = columns - widthOf(line) - 2;
  if (room < Math.min(LEAST_ABOUT, widthOf(looked))) return line;
  const right = cutLine(looked, room);
  return [...line, say(' '.repeat(columns - widthOf(line) - widthOf(right))), ...right];
}

/** @param room beside what is looked at; `columns` without it */
function pagesLine(pages: readonly HeadPage[], room: number, columns: number): Line {
  const bare = chosenLine(shortened(pages, room));
  const named = [...PROGRAM, ...chosenLine(shortened(pages, room - widthOf(PROGRAM)))];
  return (
    [named, bare].find(line => widthOf(line) <= room) ??
    cutLine(chosenLine(shortened(pages, columns)), columns)
  );
}

/** What is too much is taken from a name. */
function shortened(pages: readonly HeadPage[], room: number): readonly Choosable[] {
  const surplus = widthOf(chosenLine(pages)) - room;
  if (surplus <= 0) return pages;
  return pages.map(page => (page.isName ? { ...page, most: lessBy(surplus, page) } : page));
}

function lessBy(surplus: number, { text }: HeadPage): number {
  return Math.max(LEAST_NAME, widthOf(quote(text)) - surplus);
}

/** Everything around the page. */
interface Surroundings {
  readonly state: State;
  readonly heading: Heading;
  readonly notices: readonly Line[];
  readonly matters: Matters;
}

/** How much room there is for the page. */
function planOf({ state, heading, notices, matters }: Surroundings, size: Size, theme: Theme): Plan {
  const { columns } = size;
  return planAround(
    {
      head: [headLine(heading, columns)],
      notices,
      asked: room => askedBy(state.overlay, room, theme),
      foot: bottomLine(state, matters, columns),
    },
    size,
    theme,
  );
}

function bottomLine(state: State, matters: Matters, columns: number): Line {
  const { overlay } = state;
  if (overlay?.kind !== 'prompt') return footLine(state, matters, columns);
  return promptLine(PROMPTS[overlay.prompt.purpose], overlay.prompt, columns);
}

/** Rows below which a heading would be a waste. */
const ROOMY = 8;

interface FormStanding {
  readonly isSending: boolean;
  /** How many configured toolsets define the operation. */
  readonly rivals: number;
}

/** The operation, and the form of its arguments. */
function formPage(
  { operation, description, form }: Filling,
  { isSending, rivals }: FormStanding,
  size: Size,
  theme: Theme,
): readonly string[] {
  const { columns, rows } = size;
  if (rows < ROOMY) return drawForm(form, size, theme);
  const sending = isSending ? [say('  sending …', 'running')] : [];
  const heading: Line = [...quote(operation, 'title'), ...sending, say('  '), ...quote(description, 'dim')];
  const remark: Line = rivals > 1 ? [say(rivalWords(rivals), 'bad')] : [];
  const fields = drawForm(form, { columns, rows: rows - 2 }, theme);
  return [...[heading, remark].map(line => dressLine(cutLine(line, columns), theme)), ...fields];
}

/** Counted is what is listed: a transcript is over, whatever it was waiting for. */
function headingOf(state: State, looking: Looking, world: World): Heading {
  const { filling, page, orders } = state;
  const { book, volume } = looking;
  const running = volume.isLive ? book.underWay.size : 0;
  const sending = orders.some(isRunAgain) ? ', sending …' : '';
  const calls = `Calls ${book.keys.length}${running > 0 ? `, ${running} running` : ''}${sending}`;
  return {
    pages: [
      { text: 'Tools', isChosen: page === 'tools' },
      ...(filling
        ? [{ text: `Form ${filling.operation}`, isChosen: page === 'form', isName: true as const }]
        : []),
      { text: calls, isChosen: page === 'calls' },
    ],
    about: page === 'calls' ? aboutCall(state, looking, world) : (serverOn(state, world)?.about ?? ''),
  };
}

/** Whoever reads a call on a small screen sees no list: which call it is stands here. */
function aboutCall({ calls }: State, { exchange, volume }: Looking, { servers, serverOf }: World): string {
  if (exchange && calls.focus !== 'list') return `${exchange.invocation.operation} ${exchange.invocation.id}`;
  if (!volume.isLive) return volume.name;
  const id = exchange ? serverOf(exchange.key) : null;
  const [only, ...others] = servers;
  return (servers.find(server => server.id === id) ?? (others.length === 0 ? only : undefined))?.about ?? '';
}

/** That the form's call goes to, or that the selected row is of. */
function serverOn(state: State, { servers }: World): Server | undefined {
  const { page, filling } = state;
  if (page === 'form') return servers.find(({ id }) => id === filling?.server);
  return selectedEntry(state, servers)?.server;
}

/** More of a schema nobody reads here. */
const MOST_LINES = 2_000;

/** Lays out what is told of an entry; the last one stays laid out, since most frames show the same. */
class ToolDetails {
  #state: Server['state'] | undefined;
  #id = '';
  #rivals = 1;
  #width = 0;
  #rows: readonly string[] = [];

  constructor(private readonly theme: Theme) {}

  rowsOf(entry: Entry | undefined, width: number): readonly string[] {
    if (!entry) return [];
    const rivals = entry.kind === 'operation' ? entry.rivals : 1;
    const isSame = entry.id === this.#id && entry.server.state === this.#state && rivals === this.#rivals;
    if (isSame && width === this.#width) return this.#rows;
    this.#id = entry.id;
    this.#rivals = rivals;
    this.#state = entry.server.state;
    this.#width = width;
    this.#rows = wrapLines(detailLines(entry), width, this.theme);
    return this.#rows;
  }
}

function detailLines(entry: Entry): readonly Line[] {
  if (entry.kind === 'server') return serverLines(entry.server);
  const lines = toolLines(entry.tool);
  const schema = textLines(JSON.stringify(entry.tool.inputSchema, null, 2), MOST_LINES);
  const rest = schema.total - schema.lines.length;
  return [
    ...rivalLines(entry.rivals),
    ...lines.slice(0, MOST_LINES),
    [],
    [say('inputSchema', 'dim')],
    ...schema.lines,
    ...(rest > 0 ? [[say(`… ${rest} more lines`, 'dim')]] : []),
  ];
}

function rivalLines(rivals: number): readonly Line[] {
  if (rivals < 2) return [];
  return [[say(`${rivalWords(rivals)}: u opens one by its URL.`, 'warn')], []];
}

function serverLines({ about, state }: Server): readonly Line[] {
  switch (state.kind) {
    case 'loading':
      return [[say('Its toolset is asked for.', 'dim')]];
    case 'asleep':
      return [
        [say('.infinity/rap.json names a command that starts this server:')],
        [say('  '), ...quote(state.command, 'title')],
        [say('It is run only when you say so: ⏎ starts it.', 'warn')],
      ];
    case 'failed':
      return [
        quote(state.message, 'bad'),
        ...state.faults.map(fault => [say('  '), ...quote(fault, 'bad')]),
        ...(state.hint === null ? [] : [quote(state.hint)]),
        [say('⏎ asks it again, x takes it out.', 'dim')],
      ];
    case 'ready':
      return [
        [...quote(state.toolset.name, 'title'), say('  '), ...quote(state.toolset.description ?? '')],
        [say('from      ', 'dim'), ...quote(about)],
        [say('endpoint  ', 'dim'), ...quote(state.toolset.endpoint)],
        ...state.notes.map((note): Line => [say('note      ', 'dim'), ...quote(note, 'warn')]),
      ];
  }
}

const CURSOR = '❯ ';

/** A server, or an operation, as it stands in the list of tools. */
function entryLine(entry: Entry, isSelected: boolean): Line {
  const cursor = say(isSelected ? CURSOR : ' '.repeat(CURSOR.length), 'running');
  if (entry.kind === 'server') return [cursor, ...serverLine(entry.server)];
  const { name, annotations = {}, description } = entry.tool;
  const mark = [
    ...(entry.rivals > 1 ? [say(` ⚠ in ${entry.rivals} toolsets`, 'bad')] : []),
    ...(annotations.destructive ? [say(' ⚠ destructive', 'bad')] : []),
  ];
  return [
    cursor,
    say('  '),
    ...quote(name, isSelected ? 'title' : 'plain'),
    ...mark,
    say('  '),
    ...quote(firstLineOf(description), 'dim'),
  ];
}

/** A message that names the server does not do so twice. */
function failedLine(about: string, message: string): Line {
  const reason = message.split(': ').filter(piece => !piece.includes(about));
  if (reason.length === 0) return [say('✗ ', 'bad'), ...quote(message, 'bad')];
  return [...quote(about, 'title'), say('  ✗ ', 'bad'), ...quote(reason.join(': '), 'bad')];
}

function serverLine({ about, state }: Extract<Entry, { kind: 'server' }>['server']): Line {
  switch (state.kind) {
    case 'loading':
      return [...quote(about, 'title'), say('  loading …', 'running')];
    case 'asleep':
      return [...quote(about, 'title'), say('  not started: ⏎ starts it', 'warn')];
    case 'failed':
      return failedLine(about, state.message);
    case 'ready':
      return [
        ...quote(state.toolset.name, 'title'),
        ...(about === state.toolset.name ? [] : [say('  '), ...quote(about, 'dim')]),
      ];
  }
}

const SHARES = { wide: 100, share: 0.38 };

const EMPTY: readonly Line[] = [
  [say('No servers yet.')],
  [
    say('u', 'title'),
    say(' opens one by its URL; ', 'dim'),
    say('demo', 'title'),
    say(' there is the tool bundled with this program.', 'dim'),
  ],
];

interface ToolsScene {
  readonly entries: readonly Entry[];
  readonly selected: number;
  /** Pages of the details that are above. */
  readonly scroll: number;
}

/** What can be called, and what is told of the selected operation. */
function toolsPage(
  { entries, selected, scroll }: ToolsScene,
  size: Size,
  { theme, details }: { readonly theme: Theme; readonly details: ToolDetails },
): readonly string[] {
  if (entries.length === 0) return filled(wrapLines(EMPTY, size.columns, theme), size.rows);
  const shares = { ...SHARES, wanted: entries.length };
  const told = details.rowsOf(entries[selected], splitOf(size, shares).details.columns);
  const split = splitOf(size, { ...shares, told: told.length });
  const { rows: seen } = reading(
    told,
    scroll * Math.max(1, split.details.rows - 1),
    split.details.rows,
    theme,
  );
  const list = listed(entries, selected, split.list.rows);
  const rows = list.map(line => dressLine(cutLine(line, split.list.columns), theme));
  return joined(split, [rows, seen], theme);
}

/** Those that there is room for, and how many there are besides. */
function listed(entries: readonly Entry[], selected: number, rows: number): readonly Line[] {
  const isCut = entries.length > rows && rows > 1;
  const room = isCut ? rows - 1 : rows;
  const above = firstSeen(entries.length, selected, room);
  const lines = entries
    .slice(above, above + room)
    .map((entry, index) => entryLine(entry, above + index === selected));
  return isCut ? [...lines, moreLine(above, entries.length - above - room)] : lines;
}

function moreLine(above: number, below: number): Line {
  const places = [
    ...(above > 0 ? [`${above} more above`] : []),
    ...(below > 0 ? [`${below} more below`] : []),
  ];
  return [say(`… ${places.join(', ')}`, 'dim')];
}

/** A page, and whether it changes as time goes on. */
interface Page {
  readonly rows: readonly string[];
  readonly isRunning: boolean;
}

function still(rows: readonly string[]): Page {
  return { rows, isRunning: false };
}

/** Draws the state: what there is to see of the world, as a person looks at it. */
export class Drawing {
  readonly sheet: SheetView<Tab>;
  readonly #sheets: Sheets;
  readonly #verdicts: Verdicts;
  readonly #options: SessionOptions;
  readonly #theme: Theme;
  readonly #details: ToolDetails;
  readonly #overlays: OverlayPages;
  readonly #highlighting: Highlighting;

  constructor(options: SessionOptions, onChange: () => void) {
    const { supports, level } = options;
    this.#options = options;
    this.#theme = createTheme(level);
    this.#details = new ToolDetails(this.#theme);
    this.#overlays = new OverlayPages(this.#theme);
    this.#highlighting = new Highlighting(level, onChange);
    this.#verdicts = new Verdicts(options.clock, onChange, key => options.world.isUnvalidated(key));
    this.#sheets = new Sheets({
      supports,
      highlighter: () => this.#highlighting.current,
      verdicts: this.#verdicts,
      onChange,
    });
    this.sheet = new SheetView(this.#theme);
  }

  /** The call that is looked at, to be read; null where there is none. */
  readable({ volume, book, key }: Looking): Readable<Tab> | null {
    if (key === null) return null;
    return {
      name: JSON.stringify([volume.id, key]),
      sheetOf: (tab, look) => this.#sheets.sheetOf(tab, { ...volume, key }, look),
      others: tab => otherTabs(TABS, TITLES, tab, book.whole.of(key)),
    };
  }

  frame(state: State, notices: readonly Line[], size: Size, now: number) {
    const looking = lookingAt(state, this.#options.world);
    const surroundings = this.#surroundings(state, looking, notices, size);
    const plan = planOf(surroundings, size, this.#theme);
    const overlay = this.#overlays.pageOf(state, plan.body);
    const page = overlay ? still(overlay.rows) : this.#page(state, looking, plan.body, now);
    return {
      rows: frameOf(plan, page.rows),
      body: plan.body,
      isRunning: page.isRunning,
      most: overlay?.most ?? 0,
    };
  }

  close(): void {
    this.#verdicts.close();
  }

  #page(state: State, looking: Looking, size: Size, now: number): Page {
    const theme = this.#theme;
    const { filling, orders } = state;
    if (state.page === 'form' && filling)
      return still(formPage(filling, this.#standingOf(filling, orders), size, theme));
    if (state.page === 'tools') {
      const entries = entriesOf(this.#options.world.servers);
      const selected = entryIndex(entries, state.tools.selected);
      return still(
        toolsPage({ entries, selected, scroll: state.tools.scroll }, size, {
          theme,
          details: this.#details,
        }),
      );
    }
    this.#highlighting.ask();
    const sheet = (room: Size) => this.sheet.rowsOf(state.calls, this.readable(looking), room);
    const { volume, book } = looking;
    const at = volume.isLive ? now : (book.whole.events.at(-1)?.at ?? 0); // what was recorded is as it was at its end
    const verdictOf = (key: string) => this.#verdicts.glance({ ...volume, key });
    const seen = { looking, world: this.#options.world, verdictOf, now: at };
    const page = callsPage({ ...callsSceneOf(state.calls, seen), sheet }, size, theme);
    return { rows: page.rows, isRunning: volume.isLive && page.isRunning };
  }

  #standingOf(filling: Filling, orders: State['orders']): FormStanding {
    const rivals = rivalsAt(filling.server, filling.operation, this.#options.world.servers);
    return { isSending: isSent(orders, filling.id), rivals };
  }

  #surroundings(state: State, looking: Looking, notices: readonly Line[], size: Size): Surroundings {
    return {
      state,
      notices,
      heading: headingOf(state, looking, this.#options.world),
      matters: this.#matters(state, looking, size),
    };
  }

  #matters(state: State, looking: Looking, size: Size): Matters {
    const { exchange, volume, book } = looking;
    const isLive = volume.isLive && exchange !== undefined;
    return {
      entry: state.page === 'tools' ? selectedEntry(state, this.#options.world.servers) : undefined,
      asks: isLive && openQuestion(looking, book) !== null,
      hasPage: isLive && exchange.waitingFor?.type === 'oauth',
      isRunning: isLive && isUnderWay(exchange),
      hasDiff:
        state.page === 'calls' &&
        this.sheet.hasHunks(state.calls, this.readable(looking), sheetRoom(state, looking, size)),
    };
  }
}
