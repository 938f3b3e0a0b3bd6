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
  isUrgent = false,
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
};

/** `↑ k`, `Ctrl-C`, `Shift-Tab` */
function labelOf(keys: readonly string[]): string {
  const wordOf = (word: string) => LABELS[word] ?? word.charAt(0).toUpperCase() + word.slice(1);
  return keys.map(key => (key.length > 1 ? key.split('+').map(wordOf).join('-') : key)).join(' ');
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
  tables(first: readonly Place[] = []) {
    const places = new Set([...first, ...(Object.keys(TITLES) as Place[])]);
    return Array.from(places, place => ({
      title: TITLES[place],
      keys: this.bindings.filter(binding => binding.place === place),
    })).filter(({ keys }) => keys.length > 0);
  }

  /** The help page. */
  lines(first: readonly Place[] = []): readonly Line[] {
    const tables = this.tables(first);
    const width = Math.max(...this.bindings.map(({ label }) => label.length));
    return tables.flatMap(({ title, keys }, index) => [
      ...(index === 0 ? [] : [[]]),
      [say(title.toUpperCase(), 'title')],
      ...keys.map(
        ({ label, does }): Line => [
          say('  '),
          say(label.padEnd(width), 'title'),
          say('  ', 'gutter'),
          say(does),
        ],
      ),
    ]);
  }
}

/** A key press or a piece of text. */
export interface Press {
  /** `j`, `G`, `enter`, `shift+tab`, `ctrl+c`; empty for text of several characters, even if the text is `escape`. */
  readonly name: string;
  /** The text to insert; empty for other keys. */
  readonly text: string;
}

const ESC = '\u001b';
const CONTROLS: ReadonlyMap<string, string> = new Map([
  ['\r', 'enter'],
  ['\t', 'tab'],
  ['\b', 'erase'],
  ['\u007f', 'erase'], // most terminals send DEL for the backspace key
  [ESC, 'escape'],
]);

/** Distance from Ctrl-A to a. */
const LETTERS = 0x60;

/** The press of a character, or a piece of text. */
function pressOf(text: string): Press {
  const control = CONTROLS.get(text);
  if (control) return { name: control, text: '' };
  if (text.length === 1 && text <= '\u001a')
    return { name: `ctrl+${String.fromCharCode(text.charCodeAt(0) + LETTERS)}`, text: '' };
  return { name: text === ' ' ? 'space' : /^.$/su.test(text) ? text : '', text };
}

/** The last character of a CSI or SS3 sequence. */
const BY_FINAL: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  Z: 'tab', // with Shift
};

/** The number in a CSI sequence that ends with `~`. */
const BY_NUMBER: Readonly<Record<string, string>> = {
  1: 'home',
  3: 'erase',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
};

const SEQUENCE = new RegExp(`^(${ESC}?)${ESC}[[O](\\d*)(?:;(\\d+))?([A-Z~])$`);
const MODIFIER = { shift: 1, alt: 2, ctrl: 4, meta: 8 } as const;

/** Interprets a piece of input, as split by Ink's parser; null for the escape sequence of an unused key. */
export function readSequence(sequence: string): Press | null {
  if (!sequence.startsWith(ESC) || sequence === ESC) return pressOf(sequence);
  const rest = sequence.slice(1);
  if (rest === ESC) return pressOf(ESC);
  // Esc followed by a letter is not that letter.
  if (/^[A-Za-z0-9 \r\b\u007f]$/.test(rest)) return { name: `meta+${pressOf(rest).name}`, text: '' };
  if (!/^[[O]/.test(rest) && !rest.startsWith(ESC)) return pressOf(rest);
  const [, alt, number = '', modifiers = '1', final = ''] = SEQUENCE.exec(sequence) ?? [];
  const key = final === '~' ? BY_NUMBER[number] : /^1?$/.test(number) ? BY_FINAL[final] : undefined;
  if (key === undefined) return null;
  const bits =
    Math.max(0, Number(modifiers) - 1) | (alt ? MODIFIER.alt : 0) | (final === 'Z' ? MODIFIER.shift : 0);
  return { name: withModifiers(key, bits), text: '' };
}

function withModifiers(key: string, bits: number): string {
  if (bits & MODIFIER.ctrl) return `ctrl+${key}`;
  if (bits & (MODIFIER.alt | MODIFIER.meta)) return `meta+${key}`;
  return bits & MODIFIER.shift && key === 'tab' ? 'shift+tab' : key;
}

/**
 * Splits input that arrives at once (fast typing, a paste, a program) into presses: single keys, or, in a text field, pieces of text. A
 * control character is a key. In pasted text, only an Enter or Tab at the end of a single line is a key.
 */
const PIECES = {
  keys: /[\s\S]/gu,
  line: /\P{Cc}+|\p{Cc}/gu,
  text: /\P{Cc}+(?=[\r\n\t]$)|[\P{Cc}\t\n\r]+|\p{Cc}/gu,
};

export function pressesIn(press: Press, typing: keyof typeof PIECES = 'keys'): readonly Press[] {
  if (press.name !== '') return [press];
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
