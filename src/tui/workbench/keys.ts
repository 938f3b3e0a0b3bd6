import { quote } from '../../render/line.js';
import { cutLine, dressLine, type Theme, widthOf } from '../../render/terminal/theme.js';
import { Memo } from '../../util/bounded.js';
import {
  atList,
  type BrowsingCommand,
  browse,
  cycled,
  found,
  LIST_BINDINGS,
  type Listed,
  moved,
  READING_BINDINGS,
  tabBindings,
} from '../calls/list.js';
import type { ReadingCommand } from '../document/view.js';
import {
  type Binding,
  bind,
  commandIn,
  completed,
  type KeyTable,
  keyLines,
  nameOf,
  type Press,
  pressedOnPage,
  stepPrompt,
  tablesOf,
} from '../keys.js';
import { type Reading, reading, wrapLines } from '../layout.js';
import { type Asked, askedIn, stepPicker } from '../picker.js';
import type { Size } from '../terminal.js';
import { FORM_BINDINGS, wantsRun } from './form/form.js';
import { bad, decline, fulfil, good, type House, send } from './send.js';
import type { Overlay, Prompt, State } from './state.js';
import { TABS, TITLES } from './tabs.js';

/** Names that are told; of more they are counted. */
const MOST = 30;

/** Goes on with what is typed as far as that is certain, and tells what it may be. Whoever has typed on meanwhile is left alone. */
async function complete(prompt: Prompt, house: House): Promise<void> {
  const typed = prompt.text.slice(0, prompt.cursor);
  const found = await candidatesFor(prompt, typed, house);
  const { overlay } = house.state;
  if (overlay?.kind !== 'prompt' || overlay.prompt !== prompt || found === null) return;
  house.change({ overlay: { ...overlay, prompt: completed(prompt, found) } });
  if (found.length !== 1)
    house.say(found.length === 0 ? bad(`Nothing begins with ${typed}`) : good(listed(found)));
}

/** Null where there is nothing that could be known. */
async function candidatesFor(
  { purpose }: Prompt,
  typed: string,
  { controls, world }: House,
): Promise<readonly string[] | null> {
  if (purpose === 'search') return null;
  if (purpose !== 'server') return controls.paths(typed);
  const known = world.servers.map(({ about }) => about).filter(about => URL.canParse(about));
  return ['demo', ...known].filter(word => word.startsWith(typed)).sort();
}

/** Without the folder that they are all in. */
function listed(found: readonly string[]): string {
  const names = found.map(path => path.replace(/^.*\/(?=.)/, ''));
  const rest = names.length - MOST;
  return [...names.slice(0, MOST), ...(rest > 0 ? [`and ${rest} more`] : [])].join('  ');
}

/** Where a key is pressed: what it means differs from place to place. */
export type Place = 'everywhere' | 'tools' | 'calls' | 'reading' | 'form';

export type Command =
  | ReadingCommand
  | BrowsingCommand
  | 'showTools'
  | 'showCalls'
  | 'help'
  | 'quit'
  | 'search'
  | 'openServer'
  | 'dismiss'
  | 'runForm'
  | 'runUnchecked'
  | 'runAgain'
  | 'editAgain'
  | 'answer'
  | 'cancel'
  | 'visit'
  | 'copyConsent'
  | 'copyCurl'
  | 'copyCommand'
  | 'saveFixture'
  | 'saveTranscript'
  | 'openTranscript'
  | 'nextVolume';

/** Every key of the workbench but those that type. The help, the line at the bottom and the page of keys are made from it. */
export const BINDINGS: readonly Binding<Place, Command>[] = [
  bind('everywhere', 'showTools', 't', 't', 'tools and their operations'),
  bind('everywhere', 'showCalls', 'c', 'c', 'calls and their outcomes'),
  bind('everywhere', 'focusNext', 'tab', 'Tab', 'the next pane'),
  bind('everywhere', 'focusPrevious', 'shift+tab', 'Shift-Tab', 'the previous pane'),
  bind('everywhere', 'back', 'escape', 'Esc', 'back'),
  bind('everywhere', 'openServer', 'u', 'u', 'open a tool server by its URL'),
  bind('everywhere', 'openTranscript', 'O', 'O', 'open a transcript'),
  bind('everywhere', 'saveTranscript', 'S', 'S', 'save the transcript of this session'),
  bind('everywhere', 'help', '?', '?', 'show or hide the keys'),
  bind('everywhere', 'quit', 'q ctrl+c', 'q Ctrl-C', 'quit: pending calls are canceled'),

  bind('tools', 'up', 'k up', '↑ k', 'the previous operation'),
  bind('tools', 'down', 'j down', '↓ j', 'the next operation'),
  bind('tools', 'first', 'g home', 'Home g', 'the first one'),
  bind('tools', 'last', 'G end', 'End G', 'the last one'),
  bind('tools', 'enter', 'enter', '⏎', 'open the form; on a server: start or retry'),
  bind('tools', 'dismiss', 'x', 'x', 'remove a server that could not be reached'),
  bind('tools', 'pageDown', 'space pagedown', 'PgDn Space', 'scroll the details down'),
  bind('tools', 'pageUp', 'pageup', 'PgUp', 'scroll the details up'),
  bind('tools', 'search', '/', '/', 'search for an operation'),
  bind('tools', 'nextMatch', 'n', 'n', 'the next match'),
  bind('tools', 'previousMatch', 'N', 'N', 'the previous match'),

  ...LIST_BINDINGS,
  bind('calls', 'nextVolume', 'V', 'V', 'the next open transcript'),
  ...tabBindings(TITLES),
  bind('calls', 'runAgain', 'r', 'r', 'run the call again'),
  bind('calls', 'editAgain', 'e', 'e', 'edit it and run it again'),
  bind('calls', 'answer', 'a', 'a', "answer the tool's question"),
  bind('calls', 'cancel', 'x', 'x', 'cancel the call, or its subscription'),
  bind('calls', 'visit', 'o', 'o', 'open the consent page'),
  bind('calls', 'copyConsent', 'U', 'U', 'copy the URL of the consent page'),
  bind('calls', 'copyCurl', 'y', 'y', 'copy as curl'),
  bind('calls', 'copyCommand', 'Y', 'Y', 'copy as a command line'),
  bind('calls', 'saveFixture', 's', 's', 'save as a fixture'),

  ...READING_BINDINGS,

  bind('form', 'runUnchecked', 'ctrl+t', 'Ctrl-T', 'run with invalid arguments'),
  bind('form', 'help', 'ctrl+g', 'Ctrl-G', 'show or hide the keys'),
  bind('form', 'back', 'escape', 'Esc', 'back; keeps the input'),
];

/** What a key means in the first of these places that knows it. */
export function commandOf(name: string, places: readonly Place[]): Command | undefined {
  return commandIn(BINDINGS, name, places);
}

/** Where one is: where the keys of a page mean nothing, those of what it is on do. A form takes whatever is typed. */
function placesOf({ page, calls }: State): readonly Place[] {
  if (page === 'form') return ['form'];
  if (page === 'tools') return ['tools', 'everywhere'];
  return calls.focus === 'list' ? ['calls', 'everywhere'] : ['reading', 'calls', 'everywhere'];
}

/** What a press asks for where one is; nothing where it is typed into a form. */
export function commandFor(press: Press, state: State): Command | undefined {
  const { page, filling } = state;
  if (page === 'form' && filling && wantsRun(filling.form, press)) return 'runForm';
  return commandOf(nameOf(press), placesOf(state));
}

/** Whether a press is a key where one is, and no text. */
function isKeyIn(state: State, press: Press): boolean {
  return (
    commandFor(press, state) !== undefined ||
    (state.page === 'form' && commandIn(FORM_BINDINGS, nameOf(press), ['form']) !== undefined)
  );
}

type Of<Kind extends Overlay['kind']> = Extract<Overlay, { kind: Kind }>;

/** What is beneath, for what is meant for that. */
interface Beneath {
  readonly search: (wanted: string) => void;
  readonly press: (press: Press) => void;
}

/** What a key does to what stands between a person and the rest. */
export function pressOverlay(overlay: Overlay, press: Press, house: House, beneath: Beneath): void {
  if (nameOf(press) === 'escape') leave(overlay, house);
  else if (overlay.kind === 'prompt') pressPrompt(overlay, press, house, beneath);
  else if (overlay.kind === 'question' || overlay.kind === 'consent') pressPicker(overlay, press, house);
  else pressPage(overlay, press, house, beneath);
}

/** A question of ours that is left is a no. */
function leave(overlay: Overlay, house: House): void {
  house.change({ overlay: null });
  if (overlay.kind === 'consent') void decline(house, overlay.order);
}

function pressPrompt(overlay: Of<'prompt'>, press: Press, house: House, { search }: Beneath): void {
  const { purpose, text } = overlay.prompt;
  if (nameOf(press) === 'tab') return void complete(overlay.prompt, house);
  const isDone = nameOf(press) === 'enter';
  house.change({ overlay: isDone ? null : { ...overlay, prompt: stepPrompt(overlay.prompt, press) } });
  if (!isDone) return;
  if (purpose === 'search') search(text);
  else fulfil(overlay.prompt, house);
}

function pressPicker(overlay: Of<'question' | 'consent'>, press: Press, house: House): void {
  const name = nameOf(press);
  if (name === 'enter') pick(overlay, house);
  else if (overlay.kind === 'question')
    house.change({ overlay: { ...overlay, picker: stepPicker(overlay.picker, name) } });
  else house.change({ overlay: { ...overlay, picker: stepPicker(overlay.picker, name) } });
}

function pick(overlay: Of<'question' | 'consent'>, house: House): void {
  const { selected } = overlay.picker;
  house.change({ overlay: null });
  if (overlay.kind === 'question') house.say(house.controls.answer(overlay.key, overlay.leg, selected));
  else if (selected === 0) void send(house, overlay.order, true);
  else void decline(house, overlay.order);
}

/** Whoever reads of a key in the help may press it: the page is gone then, and what it says is done. Beneath another page none acts. */
function pressPage(
  overlay: Of<'help' | 'copied'>,
  press: Press,
  { change, most, state }: House,
  beneath: Beneath,
): void {
  const pressed = pressedOnPage(nameOf(press), overlay.scroll, most);
  const isMeant = overlay.kind === 'help' && pressed === 'beneath' && isKeyIn(state, press);
  if (typeof pressed === 'number') change({ overlay: { ...overlay, scroll: pressed } });
  else if (pressed === 'close' || isMeant) change({ overlay: null });
  if (isMeant) beneath.press(press);
}

const IN_A_LINE = [
  { label: 'Tab', does: 'completes a path, or lists the candidates' },
  { label: '← →', does: 'a character to the left, or to the right' },
  { label: 'Home Ctrl-A', does: 'its start' },
  { label: 'End Ctrl-E', does: 'its end' },
  { label: 'Backspace', does: 'erases a character' },
  { label: 'Ctrl-W', does: 'erases a word' },
  { label: 'Ctrl-U', does: 'erases up to its start' },
  { label: '⏎', does: 'does it' },
  { label: 'Esc', does: 'leaves it' },
];

const PLACES: Readonly<Record<Place, string>> = {
  everywhere: 'Everywhere',
  tools: 'Tools',
  calls: 'Calls',
  reading: 'Reading a call',
  form: 'A form',
};

/** Every key, place by place. @param first where one is */
export function keyTables(first: readonly Place[] = []): readonly KeyTable[] {
  return [
    ...tablesOf([...FORM_BINDINGS, ...BINDINGS], PLACES, first),
    { title: 'A line that is typed', keys: IN_A_LINE },
  ];
}

/** What is in quotes, where a backslash is none; a character with the backslash that escapes it; any other. */
const PIECES = /'[^']*'?|\\[\s\S]|[^']/gu;
const ASCII = /^[\x20-\x7e]+$/;
/** What a row may need at its end to go on in the next one. */
const END = `'\\`;

/** A row as far as it is written. */
interface Row {
  readonly text: string;
  /** Where it can be parted between two words; 0 where it cannot. */
  readonly gap: number;
  /** It ends within single quotes. */
  readonly isQuoted: boolean;
}

/**
 * A command of a POSIX shell on rows of so many cells, each of them whole when it is pasted: one that ends in a backslash goes on in
 * the next.
 * @param text its words are plain, in single quotes, or escaped by a backslash; a row break in it stays one
 */
export function shellRows(text: string, columns: number): readonly string[] {
  const room = Math.max(END.length, columns - END.length);
  const rows: string[] = [];
  let row: Row = { text: '', gap: 0, isQuoted: false };
  for (const atom of atomsOf(text)) {
    if (atom.endsWith('\n')) {
      rows.push(row.text + atom.slice(0, -1));
      row = { ...row, text: '', gap: 0 };
    } else {
      if (cells(row.text) + cells(atom) > room) row = parted(row, done => rows.push(done));
      row = grown(row, atom);
    }
  }
  return [...rows, row.text];
}

/** What is not parted: characters, each with what escapes it. */
function atomsOf(text: string): readonly string[] {
  return [...text.matchAll(PIECES)].flatMap(([piece]) => (piece.startsWith("'") ? [...piece] : [piece]));
}

function grown({ text, gap, isQuoted }: Row, atom: string): Row {
  const isBlank = text.trim() === '';
  return {
    text: text + atom,
    gap: atom === ' ' && !isQuoted && !isBlank ? text.length + 1 : gap,
    isQuoted: isQuoted !== (atom === "'"),
  };
}

/** What goes on in the next row: the last word; a part of it where it is the only one. @param end takes the row before */
function parted({ text, gap, isQuoted }: Row, end: (row: string) => void): Row {
  end(gap > 0 ? `${text.slice(0, gap)}\\` : isQuoted ? text + END : `${text}\\`);
  return { text: gap > 0 ? text.slice(gap) : isQuoted ? "'" : '', gap: 0, isQuoted };
}

function cells(text: string): number {
  return ASCII.test(text) ? text.length : widthOf(quote(text));
}

type RowsOf<Kind extends Overlay['kind']> = Extract<Overlay, { kind: Kind }>;

/** Of the height, for what is asked. */
const SHARE = 2 / 3;
const ON_ESCAPE = { question: 'later', consent: 'do not call it' };

/** Lays out pages that stand in place of the rest; the last one stays laid out, since most frames show the same. */
export class OverlayPages {
  readonly #wrapped = new Memo<readonly string[]>();

  constructor(private readonly theme: Theme) {}

  /** Null where the overlay is no page. */
  pageOf(state: State, size: Size): Reading | null {
    const { overlay } = state;
    if (overlay?.kind === 'help') return this.#helpPage(placesOf(state), overlay, size);
    return overlay?.kind === 'copied' ? this.#copiedPage(overlay, size) : null;
  }

  /** Begins with the keys of where one is. */
  #helpPage(places: readonly Place[], { scroll }: RowsOf<'help'>, { columns, rows }: Size): Reading {
    const keys = () => keyLines(keyTables(places));
    const laid = this.#wrapped.of([places.join(), columns], () => wrapLines(keys(), columns, this.theme));
    return reading(laid, scroll, rows, this.theme);
  }

  /** What was copied, so that it can be copied by hand. */
  #copiedPage({ title, text, isShell, scroll }: RowsOf<'copied'>, { columns, rows }: Size): Reading {
    const head = dressLine(cutLine(title, columns), this.theme);
    const lines = () => (isShell ? shellRows(text, columns) : [text]).map(line => quote(line));
    const laid = this.#wrapped.of([text, isShell, columns], () => wrapLines(lines(), columns, this.theme));
    const { rows: seen, most } = reading(laid, scroll, Math.max(1, rows - 2), this.theme);
    return { rows: [head, '', ...seen], most };
  }
}

/** What is asked, below the rest; null where nothing is. */
export function askedBy(overlay: Overlay | null, { columns, rows }: Size, theme: Theme): Asked | null {
  if (overlay?.kind !== 'question' && overlay?.kind !== 'consent') return null;
  const most = Math.max(4, Math.floor(rows * SHARE));
  const leaving = { onEscape: ON_ESCAPE[overlay.kind], onInterrupt: 'quit' };
  const rule = theme.dim('─'.repeat(columns));
  const asked = askedIn({ columns, rows: most - 1 }, overlay.picker, theme, leaving);
  return { ...asked, rows: [rule, ...asked.rows] };
}

/** What keys are pressed upon. */
export interface Stage {
  /** What search looks at, entry by entry, and the ids of these. */
  readonly entries: Listed;
  readonly calls: Listed;
  /** Their ids. */
  readonly volumes: readonly number[];
  /** How many parts the sheet of the selected call has. */
  readonly parts: number;
}

/** The state after a command that only moves the eye. Pure; what a command makes happen is done elsewhere. */
export function update(state: State, command: Command, stage: Stage): State {
  switch (command) {
    case 'showTools':
      return { ...state, page: 'tools' };
    case 'showCalls':
      return { ...state, page: 'calls' };
    case 'help':
      return { ...state, overlay: { kind: 'help', scroll: 0 } };
    case 'back':
      return back(state, stage);
    default:
      return state.page === 'tools' ? updateTools(state, command, stage) : updateCalls(state, command, stage);
  }
}

/** A form is left for where it was opened. */
function back(state: State, stage: Stage): State {
  const { page, calls, filling } = state;
  if (page === 'calls' && calls.focus !== 'list') return updateCalls(state, 'back', stage);
  const isEdited = page === 'form' && filling !== null && filling.about !== null;
  return { ...state, page: isEdited ? 'calls' : 'tools' };
}

function updateTools(state: State, command: Command, { entries }: Stage): State {
  const { wanted, scroll } = state.tools;
  const select = (index: number | null) =>
    index === null
      ? state
      : { ...state, tools: { ...state.tools, selected: entries.ids[index] ?? null, scroll: 0 } };
  switch (command) {
    case 'up':
      return select(moved(entries, -1));
    case 'down':
      return select(moved(entries, 1));
    case 'first':
      return select(0);
    case 'last':
      return select(entries.ids.length - 1);
    case 'nextMatch':
      return select(found(entries, wanted, 1));
    case 'previousMatch':
      return select(found(entries, wanted, -1));
    case 'pageDown':
      return { ...state, tools: { ...state.tools, scroll: scroll + 1 } };
    case 'pageUp':
      return { ...state, tools: { ...state.tools, scroll: Math.max(0, scroll - 1) } };
    default:
      return state;
  }
}

function updateCalls(state: State, command: Command, { calls, parts, volumes }: Stage): State {
  if (command === 'nextVolume') return withVolume(state, nextOf(volumes, state.calls.volume));
  return { ...state, calls: browse(state.calls, command, { calls, parts, tabs: TABS }) };
}

function nextOf(volumes: readonly number[], current: number): number {
  return volumes[cycled(volumes.indexOf(current), 1, volumes.length)] ?? current;
}

/** From the newest call of another transcript on. */
function withVolume(state: State, volume: number): State {
  return { ...state, calls: { ...atList(state.calls), volume, selected: null } };
}
