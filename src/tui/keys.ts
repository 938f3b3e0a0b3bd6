import { type Line, say } from '../render/line.js';
import { cutLine, widthOf } from '../render/terminal/fit.js';

/** The part of the screen in which a key is pressed; a key may have several meanings. */
export type Place = 'everywhere' | 'list' | 'tools' | 'calls' | 'reading' | 'form' | 'prompt';

const TITLES: Readonly<Record<Place, string>> = {
  everywhere: 'Everywhere',
  list: 'A list',
  tools: 'Tools',
  calls: 'Calls',
  reading: 'Reading',
  form: 'A form',
  prompt: 'A prompt',
};

export type Hint = readonly [key: string, does: string];

interface KeyBinding<Screen> {
  readonly place: Place;
  /** Key names, see `Press`. */
  readonly keys: readonly string[];
  readonly label: string;
  readonly does: string;
  readonly run: (screen: Screen) => void;
  /** The hint in the footer; null while the key does not apply. */
  readonly hint: (screen: Screen) => Hint | null;
  /** The call waits for this key, so its hint comes first. */
  readonly isUrgent: boolean;
}

/** A hint for the footer, or null if the key does not apply. A string is the text of a hint for the first key. */
type HintText = Hint | string | null;

/** @param keys names, separated by spaces */
export function bind<Screen>(
  place: Place,
  keys: string,
  does: string,
  run: KeyBinding<Screen>['run'],
  hint: HintText | ((screen: Screen) => HintText) = null,
  { isUrgent = false }: { readonly isUrgent?: boolean } = {},
): KeyBinding<Screen> {
  const names = keys.split(' ');
  const label = labelOf(names);
  return {
    place,
    keys: names,
    label,
    does,
    run,
    isUrgent,
    hint(screen) {
      const said = typeof hint === 'function' ? hint(screen) : hint;
      return typeof said === 'string' ? [labelOf(names.slice(0, 1)), said] : said;
    },
  };
}

const LABELS: Readonly<Record<string, string>> = {
  up: '↑',
  down: '↓',
  left: '←',
  right: '→',
  pageup: 'PgUp',
  pagedown: 'PgDn',
  enter: '⏎',
  escape: 'Esc',
  erase: 'Backspace',
  wheelup: 'Wheel ↑',
  wheeldown: 'Wheel ↓',
  meta: 'Alt',
};

/** `↑ k`, `Ctrl-C`, `Shift-Tab` */
function labelOf(keys: readonly string[]): string {
  const wordOf = (word: string) => LABELS[word] ?? word.charAt(0).toUpperCase() + word.slice(1);
  return keys.map(key => (key.length > 1 ? key.split('+').map(wordOf).join('-') : key)).join(' ');
}

/** The keys of a place, for the help page and the guide. */
export interface KeyTable {
  readonly title: string;
  readonly keys: readonly { readonly label: string; readonly does: string }[];
}

/** The keys of a screen. The footer, the help page and the guide are generated from them. */
export class Keys<Screen> {
  constructor(readonly bindings: readonly KeyBinding<Screen>[]) {}

  /** The binding of a key in the first of these places that has one. */
  find(name: string, places: readonly Place[]): KeyBinding<Screen> | undefined {
    for (const place of places) {
      const binding = this.bindings.find(each => each.place === place && each.keys.includes(name));
      if (binding) return binding;
    }
    return undefined;
  }

  /** The hints for the footer, urgent ones first. A binding that another place overrides has no hint. */
  hints(places: readonly Place[], screen: Screen): readonly Hint[] {
    const here = places.flatMap(place => this.bindings.filter(binding => binding.place === place));
    const reached = here.filter(each => this.find(each.keys[0] ?? '', places) === each);
    const ordered = [...reached.filter(each => each.isUrgent), ...reached.filter(each => !each.isUrgent)];
    return ordered.map(({ hint }) => hint(screen)).filter(hint => hint !== null);
  }

  /** The keys of each place. @param first the places that come before the others */
  tables(first: readonly Place[] = []): readonly KeyTable[] {
    const places = new Set([...first, ...(Object.keys(TITLES) as Place[])]);
    return Array.from(places, place => ({
      title: TITLES[place],
      keys: this.bindings.filter(binding => binding.place === place),
    })).filter(({ keys }) => keys.length > 0);
  }
}

/** A key press or a piece of text. */
export interface Press {
  /**
   * `j`, `G`, `enter`, `shift+tab`, `ctrl+c`, `erase` (Backspace), `delete`, `wheelup`; empty for text of several characters, even if the
   * text is `escape`, and for pasted text.
   */
  readonly name: string;
  /** The text to insert; empty for other keys. */
  readonly text: string;
  /** The terminal reported the text as pasted. */
  readonly isPaste?: boolean;
}

const CONTROLS: ReadonlyMap<string, string> = new Map([
  ['\r', 'enter'],
  ['\t', 'tab'],
  ['\b', 'erase'],
]);

/** Distance from Ctrl-A to a. */
const LETTERS = 0x60;

/** The press of a character, or a piece of text. */
export function pressOf(text: string): Press {
  const control = CONTROLS.get(text);
  if (control) return { name: control, text: '' };
  if (text.length === 1 && text <= '\u001a')
    return { name: `ctrl+${String.fromCharCode(text.charCodeAt(0) + LETTERS)}`, text: '' };
  return { name: text === ' ' ? 'space' : /^.$/su.test(text) ? text : '', text };
}

/**
 * Splits input that arrives at once (fast typing, a program, a paste that the terminal does not report) into presses: single keys, or, in
 * a text field, pieces of text. A control character is a key; in several lines of text, only an Enter or Tab at the end is one. Pasted
 * text is one piece in a text field, and nothing elsewhere.
 */
const PIECES = {
  keys: /[\s\S]/gu,
  line: /\P{Cc}+|\p{Cc}/gu,
  text: /\P{Cc}+(?=[\r\n\t]$)|[\P{Cc}\t\n\r]+|\p{Cc}/gu,
};

export function pressesIn(press: Press, typing: keyof typeof PIECES = 'keys'): readonly Press[] {
  if (press.isPaste && typing === 'keys') return [];
  if (press.isPaste || press.name !== '') return [press];
  const pieces = press.text.match(PIECES[typing]) ?? [];
  return pieces.map(piece => pressOf(piece === '\n' ? '\r' : piece));
}

const GAP = say('   ');

/** Hints in a line of `width` cells: all of `always`, and as many of the others as fit before them. */
export function hintsLine(hints: readonly Hint[], always: readonly Hint[], width: number): Line {
  const lineOf = ([key, does]: Hint): Line => [say(key, 'title'), say(` ${does}`, 'dim')];
  const spread = (lines: readonly Line[]) =>
    lines.flatMap((line, index) => (index === 0 ? line : [GAP, ...line]));
  const ends = always.map(lineOf);
  let left = width - widthOf(spread(ends));
  const fitting = hints.map(lineOf).filter(line => {
    left -= widthOf(line) + GAP.text.length;
    return left >= 0;
  });
  return cutLine(spread([...fitting, ...ends]), width);
}
