import type { Key } from 'ink';
import type { Highlighter } from '../../display/syntax.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import { type Line, quote, say, textLines } from '../../render/line.js';
import { paneLines } from '../../render/pane-lines.js';
import type { Pane, Panes } from '../../render/panes.js';
import type { Step } from '../../render/step-arrivals.js';
import { stepLine } from '../../render/steps.js';
import {
  cutLine,
  dressLine,
  fitRows,
  paneLayout,
  type Theme,
  widthOf,
  wrapLine,
} from '../../render/terminal/theme.js';
import { hintsLine } from '../keys.js';
import type { Size } from '../terminal.js';

/** A block of rows that wants to be on the screen. */
export interface Want {
  /** All that it has. */
  readonly rows: number;
  /** With fewer it says nothing. */
  readonly least: number;
  /** Where not even the least of all fits, the highest rank goes first. */
  readonly rank: number;
}

/** Rows between two blocks. */
const BLANK = 1;

/**
 * How many rows each block gets of `height`, the blank rows between them taken off. Small blocks get all they want; what is left
 * the others share alike.
 */
export function allot(height: number, wants: readonly Want[]): number[] {
  const granted = leastOf(height, wants);
  let left = height - needed(granted);
  while (left > 0) {
    const index = poorest(granted, wants);
    if (index === undefined) break;
    granted[index] = (granted[index] ?? 0) + 1;
    left--;
  }
  return granted;
}

function leastOf(height: number, wants: readonly Want[]): number[] {
  const granted = wants.map(({ rows, least }) => Math.min(rows, least));
  const dispensable = [...wants.entries()].sort(([, a], [, b]) => b.rank - a.rank);
  for (const [index] of dispensable) {
    if (needed(granted) <= height) break;
    granted[index] = 0;
  }
  return granted;
}

function needed(granted: readonly number[]): number {
  const shown = granted.filter(rows => rows > 0);
  return shown.reduce((sum, rows) => sum + rows, Math.max(0, shown.length - 1) * BLANK);
}

/** The one that has the fewest rows of those that want more; one that has none stays away. */
function poorest(granted: readonly number[], wants: readonly Want[]): number | undefined {
  return [...granted.keys()]
    .filter(index => (granted[index] ?? 0) > 0 && (granted[index] ?? 0) < (wants[index]?.rows ?? 0))
    .sort((a, b) => (granted[a] ?? 0) - (granted[b] ?? 0))[0];
}

/** What a key does to a question. */
export type PickerCommand = 'up' | 'down' | 'first' | 'last' | 'pick' | 'dismiss' | Digit;
export type Command = PickerCommand | 'open' | 'interrupt';

const DIGITS = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'] as const;
export type Digit = (typeof DIGITS)[number];

interface Binding {
  readonly command: Command;
  /** Characters that mean it. */
  readonly characters: string;
  /** Keys that have no character. */
  readonly keys: readonly (keyof Key)[];
}

/** Every key of the live view. In raw mode Ctrl-C is a character as any other. */
const BINDINGS: readonly Binding[] = [
  { command: 'up', characters: 'k', keys: ['upArrow'] },
  { command: 'down', characters: 'j', keys: ['downArrow'] },
  { command: 'first', characters: '', keys: ['home'] },
  { command: 'last', characters: '', keys: ['end'] },
  { command: 'pick', characters: '\r\n', keys: ['return'] },
  { command: 'dismiss', characters: '', keys: ['escape'] },
  { command: 'open', characters: 'o', keys: [] },
  { command: 'interrupt', characters: '\u0003', keys: [] },
  ...DIGITS.map(digit => ({ command: digit, characters: digit, keys: [] })),
];

/** The commands of a key press. Several characters that arrive at once all count, but Ctrl-C only once: a second one ends by force. */
export function commandsOf(input: string, key: Key): readonly Command[] {
  if (key.ctrl) return input === 'c' ? ['interrupt'] : [];
  if (key.meta && !key.escape) return [];
  const pressed = BINDINGS.find(({ keys }) => keys.some(name => key[name] === true));
  if (pressed) return [pressed.command];
  const commands = [...input].flatMap(character => commandOf(character) ?? []);
  return commands.filter((each, at) => each !== 'interrupt' || commands.indexOf(each) === at);
}

function commandOf(character: string): Command | undefined {
  return BINDINGS.find(({ characters }) => characters.includes(character))?.command;
}

/** What can be put to a person as a list of choices. */
export type Askable = Pick<UserChoice, 'prompt' | 'choices' | 'default'>;

/** A question on the screen, and where its cursor stands. */
export interface Picker<Question extends Askable = UserChoice> {
  readonly question: Question;
  /** The index of a choice. */
  readonly selected: number;
  /** Digits typed one after another: those of an index. */
  readonly typed: string;
  /** Who asks, where there are several who might. */
  readonly asker?: Line;
}

/** Its default is selected at first. */
export function openPicker<Question extends Askable>(question: Question): Picker<Question> {
  return { question, selected: question.default, typed: '' };
}

/** The picker after a key. Pure; what `pick` and `dismiss` mean is decided where the question was asked. */
export function stepPicker<P extends Picker<Askable>>(picker: P, command: PickerCommand): P {
  const last = picker.question.choices.length - 1;
  const select = (selected: number) => ({ ...picker, selected, typed: '' });
  switch (command) {
    case 'up':
      return select(Math.max(0, picker.selected - 1));
    case 'down':
      return select(Math.min(last, picker.selected + 1));
    case 'first':
      return select(0);
    case 'last':
      return select(last);
    case 'pick':
    case 'dismiss':
      return picker;
    default:
      return typeDigit(picker, command);
  }
}

/** `1` and then `2` is 12 where there are so many choices, and 2 where there are not. */
function typeDigit<P extends Picker<Askable>>(picker: P, digit: string): P {
  const { choices } = picker.question;
  const typed = [picker.typed + digit, digit].find(digits => Number(digits) < choices.length);
  return typed === undefined ? picker : { ...picker, typed, selected: Number(typed) };
}

const CURSOR = '❯ ';
const DEFAULT = say(' (default)', 'dim');
const HINTS = 1;

/** What the keys do that choose nothing. */
interface Leaving {
  readonly onEscape: string;
  readonly onInterrupt: string;
}

const LEAVING: Leaving = { onEscape: 'default', onInterrupt: 'cancel' };

/** The prompt, two choices, the keys: with fewer rows nothing stands above them. */
const LEAST = 4;

/** A question as rows of the terminal, and the keys that answer it, which stand below them. */
export interface Asked {
  readonly rows: readonly string[];
  readonly keys: Line;
}

/** A question as rows of the terminal, at most `rows` of them, the keys last. */
export function pickerRows(picker: Picker<Askable>, size: Size, theme: Theme): string[] {
  const { rows, keys } = askedIn(size, picker, theme);
  return [...rows, dressLine(keys, theme)].slice(0, size.rows);
}

/** Who asks where there are several, the prompt, the choices around the cursor. @param size with the row of the keys in it */
export function askedIn(
  { columns, rows }: Size,
  picker: Picker<Askable>,
  theme: Theme,
  leaving = LEAVING,
): Asked {
  const { asker } = picker;
  if (!asker || rows <= LEAST) return questionIn({ columns, rows }, picker, theme, leaving);
  const head = dressLine(cutLine(asker, columns), theme);
  const asked = questionIn({ columns, rows: rows - 1 }, picker, theme, leaving);
  return { ...asked, rows: [head, ...asked.rows] };
}

function questionIn({ columns, rows }: Size, picker: Picker<Askable>, theme: Theme, leaving: Leaving): Asked {
  const { choices } = picker.question;
  const fewest = Math.min(choices.length, Math.ceil(rows / 2));
  const prompt = promptRows(picker, { columns, rows: Math.max(1, rows - HINTS - fewest) }, theme);
  const room = Math.max(1, rows - HINTS - prompt.length);
  const from = firstSeen(picker, room);
  const seen = choices
    .slice(from, from + room)
    .map((label, index) => choiceLine(picker, from + index, label, columns));
  return {
    rows: [...prompt, ...seen.map(line => dressLine(line, theme))],
    keys: keysLine(picker, seen.length, columns, leaving),
  };
}

function promptRows({ question }: Picker<Askable>, { columns, rows }: Size, theme: Theme): string[] {
  const { lines } = textLines(question.prompt, rows + 1);
  const bold = lines.map(line => line.map(span => (span.tone === 'plain' ? say(span.text, 'title') : span)));
  const more = (count: number) => dressLine([say(`… ${count} more rows`, 'dim')], theme);
  const [first = [], ...others] = bold;
  const start: Line = others.length > 0 ? [...first, say(' …', 'dim')] : first;
  if (rows === 1) return [dressLine(cutLine(start, columns), theme)]; // a count alone would be no question
  return fitRows(
    bold.flatMap(line => wrapLine(line, columns, theme)),
    rows,
    more,
  );
}

/** The cursor stands in the middle, save at either end. */
function firstSeen({ selected, question }: Picker<Askable>, room: number): number {
  return Math.max(0, Math.min(selected - Math.floor(room / 2), question.choices.length - room));
}

/** A label is cut; its index and whether it is the default never are. */
function choiceLine(
  { question, selected }: Picker<Askable>,
  index: number,
  label: string,
  columns: number,
): Line {
  const isSelected = index === selected;
  const digits = String(question.choices.length - 1).length;
  const head = [
    say(isSelected ? CURSOR : ' '.repeat(CURSOR.length), 'running'),
    say(`${String(index).padStart(digits)} `, 'dim'),
  ];
  const tail = index === question.default ? [DEFAULT] : [];
  const room = columns - widthOf(head) - widthOf(tail);
  return [...head, ...cutLine(quote(start(label, columns), isSelected ? 'running' : 'plain'), room), ...tail];
}

/** A label may be ten megabytes long: what is more than a row holds is cut before it is looked at. */
function start(label: string, columns: number): string {
  const head = Array.from(label.slice(0, 2 * columns))
    .slice(0, columns)
    .join('');
  return head.length < label.length ? `${head}…` : label;
}

function keysLine(
  { question, selected }: Picker<Askable>,
  seen: number,
  columns: number,
  { onEscape, onInterrupt }: Leaving,
): Line {
  const { length } = question.choices;
  const hints = [
    ['↑↓', seen < length ? `${selected + 1} of ${length}` : 'select'],
    ['Ctrl-C', onInterrupt],
  ] as const;
  const always = [
    ['⏎', 'choose'],
    ['Esc', onEscape],
  ] as const;
  return hintsLine(hints, always, columns);
}

/** What the live view draws, cut to fit: dressed rows, never wider or more than the terminal allows. A block may be empty. */
export interface Frame {
  readonly steps: readonly string[];
  readonly views: readonly string[];
  /** Null until the call is settled. */
  readonly panes: {
    readonly isSideBySide: boolean;
    readonly width: number;
    readonly human: readonly string[];
    readonly llm: readonly string[];
  } | null;
  readonly picker: readonly string[];
}

export interface Scene {
  readonly steps: readonly Step[];
  /** What can be done meanwhile, or what goes on: below the steps. */
  readonly status: readonly Line[];
  /** What the thread shows besides results, as it is now. */
  readonly views: readonly Pane[];
  readonly panes: Panes | null;
  readonly picker: Picker | null;
  /** Without one, code is plain. */
  readonly highlighter?: Highlighter | null;
  /** Ms since the start. */
  readonly now: number;
}

/** A frame without secrets; what a person is asked stays as it is. */
export function redactFrame(frame: Frame, redact?: (text: string) => string): Frame {
  if (!redact) return frame;
  const clean = (lines: readonly string[]) => lines.map(redact);
  const { steps, views, panes, picker } = frame;
  return {
    steps: clean(steps),
    views: clean(views),
    panes: panes && { ...panes, human: clean(panes.human), llm: clean(panes.llm) },
    picker,
  };
}

/** What panes are drawn with. */
interface Pencil {
  readonly width: number;
  readonly theme: Theme;
  readonly highlighter: Highlighter | null;
}

/** A heading, and one row: of what it says, or of how much that is. */
const SMALLEST_PANE = 2;
/** The prompt, two choices, the keys. */
const SMALLEST_PICKER = 4;
/** Of the height: a question that a person is to answer comes before whatever else there is to see. */
const PICKER_SHARE = 2 / 3;

/** What is laid out: a scene, but for what stands above. */
export type Surroundings = Omit<Scene, 'steps' | 'now'>;

/** What stands above all else, in rows. */
export interface Top {
  /** At most so many of them. */
  readonly draw: (max: number) => readonly string[];
  /** With fewer it says nothing. */
  readonly least: number;
}

/** Lays the scene out: its steps above, the latest where there is no room for all. */
export function frameOf(scene: Scene, size: Size, theme: Theme): Frame {
  const rows = stepRows(scene, { columns: size.columns, rows: Math.max(0, size.rows - 1) }, theme);
  const top = { draw: (max: number) => latest(rows, max), least: 1 + scene.status.length };
  return layFrame(top, scene, size, theme);
}

/**
 * Lays out what there is to see. A frame as high as the terminal would make it scroll, and what scrolls can be wiped no more:
 * it stays one row below.
 */
export function layFrame(top: Top, scene: Surroundings, { columns, rows }: Size, theme: Theme): Frame {
  const height = Math.max(0, rows - 1);
  const { isSideBySide, width } = paneLayout(columns);
  const { views, picker, panes } = scene;
  const pencil = { width, theme, highlighter: scene.highlighter ?? null };
  const draw = {
    views: (max: number) => viewRows(views, max, { ...pencil, width: columns }),
    human: (max: number) => (panes ? paneRows(panes.human, max, pencil) : []),
    llm: (max: number) => (panes ? paneRows(panes.llm, max, pencil) : []),
    picker: (max: number) => (picker ? pickerRows(picker, { columns, rows: max }, theme) : []),
  };
  const human = draw.human(height).length;
  const llm = draw.llm(height).length;
  const [forSteps = 0, forViews = 0, forHuman = 0, forLlm = 0, forPicker = 0] = allot(height, [
    { rows: top.draw(height).length, least: top.least, rank: 0 },
    { rows: draw.views(height).length, least: SMALLEST_PANE * views.length, rank: 4 },
    { rows: isSideBySide ? Math.max(human, llm) : human, least: SMALLEST_PANE, rank: 3 },
    { rows: isSideBySide ? 0 : llm, least: SMALLEST_PANE, rank: 2 },
    { rows: draw.picker(height).length, least: leastPicker(height), rank: 1 },
  ]);
  return {
    steps: top.draw(forSteps),
    views: draw.views(forViews),
    panes: panes && {
      isSideBySide,
      width,
      human: draw.human(forHuman),
      llm: draw.llm(isSideBySide ? forHuman : forLlm),
    },
    picker: draw.picker(forPicker),
  };
}

function leastPicker(height: number): number {
  return Math.max(SMALLEST_PICKER, Math.floor(height * PICKER_SHARE));
}

/** Only of the latest steps that there can be room for: there may be thousands. */
function stepRows({ steps, status, now }: Scene, { columns, rows }: Size, theme: Theme): string[] {
  const lines = [...latest(steps, rows).map(step => stepLine(step, now)), ...status];
  return lines.flatMap(line => wrapLine(line, columns, theme));
}

/** One below the other, each with its share. */
function viewRows(views: readonly Pane[], max: number, pencil: Pencil): string[] {
  const share = Math.floor(max / Math.max(1, views.length));
  return views.flatMap(view => paneRows(view, share, pencil));
}

function paneRows(pane: Pane, max: number, { width, theme, highlighter }: Pencil): string[] {
  const { lines, total } = paneLines(pane, { count: max, width, highlighter });
  const rows = lines.flatMap(line => wrapLine(line, width, theme));
  const unseen = total - lines.length;
  const more = (count: number) => dressLine(moreLine(count + unseen, width), theme);
  return unseen > 0 && rows.length < max ? [...rows, more(0)] : fitRows(rows, max, more);
}

/** How much is not shown, and where it can be seen: in short where there is no room for more. */
function moreLine(count: number, width: number): Line {
  const all = `… ${count} more lines (protocol-cli render or -o plain shows all)`;
  return cutLine(
    [say(all.length <= width ? all : `… ${count} more lines (-o plain shows all)`, 'dim')],
    width,
  );
}

/** The end of a list: what happened last matters most. */
function latest<T>(list: readonly T[], max: number): readonly T[] {
  return list.slice(Math.max(0, list.length - max));
}
