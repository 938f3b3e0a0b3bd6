import { type Line, quote, say } from '../../render/line.js';
import { helpLines } from '../help.js';
import { WHEEL_ROWS } from '../keyboard.js';
import { type Keys, type Place, type Press, pressesIn } from '../keys.js';
import { pressPicker } from '../picker.js';
import { completed, pressText, textInput } from '../text-input.js';
import type { ScreenEffects } from './effects.js';
import { pageRows, type ScreenLayout } from './layout.js';
import { pageLines } from './page.js';
import type { OverlayOf, ScreenAction, ScreenState } from './state.js';

/** What the keys of a screen act on. */
export interface PressTarget<Controls, Purpose> {
  readonly state: () => ScreenState<Purpose>;
  readonly dispatch: (action: ScreenAction<Purpose>) => void;
  readonly effects: ScreenEffects<Purpose>;
  readonly keys: Keys<Controls>;
  readonly controls: Controls;
  /** The places where keys are looked up, in order. */
  readonly places: () => readonly Place[];
  readonly layout: () => ScreenLayout;
  readonly quit: () => void;
  readonly onPrompt: (purpose: Purpose, text: string) => void;
  /** The possible completions, sorted; null if the prompt has none. */
  readonly complete: (purpose: Purpose, typed: string) => Promise<readonly string[] | null>;
  readonly onPick: (purpose: Purpose, selected: number) => void;
  readonly onDismiss: (purpose: Purpose) => void;
  /** Called for every key, before it has an effect. */
  readonly beforeKey: (name: string) => void;
  /** How pasted text is treated. */
  readonly typing: () => 'keys' | 'text';
  /** Handles a press that is not in the key table. */
  readonly onTyped: (press: Press) => void;
}

/** A screen without forms and completions. */
export const PLAIN_SCREEN = {
  complete: () => Promise.resolve(null),
  beforeKey() {},
  typing: () => 'keys' as const,
  onTyped() {},
};

/** The keys that cancel a prompt. */
const CANCELS: ReadonlySet<string> = new Set(['escape', 'ctrl+c']);

const MAX_CANDIDATES = 30;

/** Text pasted after the line feed of a prompt is ignored, except Ctrl-C: it must not run commands. */
export function pressScreen<Controls, Purpose>(screen: PressTarget<Controls, Purpose>, pressed: Press): void {
  const isPrompt = screen.state().overlay?.kind === 'prompt';
  let isOver = false;
  let ignored = '';
  for (const press of pressesIn(pressed, isPrompt ? 'line' : screen.typing())) {
    const { name } = press;
    if (isOver && name !== 'ctrl+c') ignored += press.text;
    else pressOne(screen, press);
    isOver ||= isPrompt && (name === 'enter' || CANCELS.has(name));
  }
  if (ignored.trim() !== '') screen.effects.note('event', [ignoredLine(ignored.trim())]);
}

function pressOne<Controls, Purpose>(screen: PressTarget<Controls, Purpose>, press: Press): void {
  const { overlay } = screen.state();
  const { name } = press;
  const close = () => screen.dispatch({ type: 'show', overlay: null });
  screen.beforeKey(name);
  if (overlay?.kind === 'prompt' && CANCELS.has(name)) close();
  else if (name === 'ctrl+c') screen.quit();
  else if (!overlay) pressKey(screen, press);
  else pressOnOverlay(screen, overlay, press);
}

function pressOnOverlay<Controls, Purpose>(
  screen: PressTarget<Controls, Purpose>,
  overlay: NonNullable<ScreenState<Purpose>['overlay']>,
  press: Press,
): void {
  switch (overlay.kind) {
    case 'help':
      pressOnHelp(screen, overlay, press);
      break;
    case 'page':
      pressOnPage(screen, press.name);
      break;
    case 'prompt':
      pressPrompt(screen, overlay, press);
      break;
    case 'question':
      pressQuestion(screen, overlay, press.name);
      break;
  }
}

function pressKey<Controls, Purpose>(screen: PressTarget<Controls, Purpose>, press: Press): void {
  const { name } = press;
  const binding = screen.keys.find(name, screen.places());
  if (!binding) return void screen.onTyped(press);
  if (name !== 'q' && binding.place !== 'form') screen.dispatch({ type: 'forgetKey' }); // a form keeps it until it changes
  binding.run(screen.controls);
}

/** The keys of the screen work on the help page, and close it. */
function pressOnHelp<Controls, Purpose>(
  screen: PressTarget<Controls, Purpose>,
  overlay: OverlayOf<Purpose, 'help'>,
  press: Press,
): void {
  const { name } = press;
  const { filter } = overlay;
  if (filter && name !== 'enter' && !pageScroll(name, false)) {
    const next = name === 'escape' ? null : pressText(filter, press);
    screen.dispatch({ type: 'show', overlay: { ...overlay, scroll: 0, filter: next } });
    return;
  }
  if (name === '/') {
    screen.dispatch({ type: 'show', overlay: { ...overlay, filter: textInput('') } });
    return;
  }
  const isBound = !CLOSES.has(name) && screen.keys.find(name, screen.places()) !== undefined;
  if (pressOnPage(screen, name) || !isBound) return;
  screen.dispatch({ type: 'show', overlay: null });
  pressKey(screen, press);
}

/** Scrolls or closes a page. Returns whether the key did. */
function pressOnPage<Controls, Purpose>(screen: PressTarget<Controls, Purpose>, name: string): boolean {
  const by = pageScroll(name, true);
  if (by !== undefined) screen.dispatch({ type: 'scroll', by, max: maxScroll(screen) });
  else if (CLOSES.has(name)) screen.dispatch({ type: 'show', overlay: null });
  else return false;
  return true;
}

function pressPrompt<Controls, Purpose>(
  screen: PressTarget<Controls, Purpose>,
  overlay: OverlayOf<Purpose, 'prompt'>,
  press: Press,
): void {
  const { name } = press;
  if (name === 'tab') return void complete(screen, overlay);
  if (name !== 'enter') {
    const isReplaced = overlay.isSuggested && press.text !== '';
    const input = pressText(isReplaced ? textInput('') : overlay.input, press);
    screen.dispatch({ type: 'show', overlay: { ...overlay, input, isSuggested: false } });
    return;
  }
  screen.dispatch({ type: 'show', overlay: null });
  screen.onPrompt(overlay.purpose, overlay.input.text);
}

function pressQuestion<Controls, Purpose>(
  screen: PressTarget<Controls, Purpose>,
  overlay: OverlayOf<Purpose, 'question'>,
  name: string,
): void {
  const { picker, purpose } = overlay;
  if (name !== 'escape' && name !== 'enter') {
    screen.dispatch({ type: 'show', overlay: { ...overlay, picker: pressPicker(picker, name) } });
    return;
  }
  screen.dispatch({ type: 'show', overlay: null });
  if (name === 'escape') screen.onDismiss(purpose);
  else screen.onPick(purpose, picker.selected);
}

async function complete<Controls, Purpose>(
  screen: PressTarget<Controls, Purpose>,
  overlay: OverlayOf<Purpose, 'prompt'>,
): Promise<void> {
  const { text, cursor } = overlay.input;
  const typed = text.slice(0, cursor);
  const found = await screen.complete(overlay.purpose, typed);
  if (!found || screen.state().overlay !== overlay) return; // the user continued typing, or left
  screen.dispatch({ type: 'show', overlay: { ...overlay, input: completed(overlay.input, found) } });
  const names = found.map(path => path.replace(/^.*\/(?=.)/, ''));
  const more = names.length > MAX_CANDIDATES ? [`and ${names.length - MAX_CANDIDATES} more`] : [];
  if (found.length === 0) screen.effects.say(`Nothing begins with ${typed}`, 'bad');
  else if (found.length > 1)
    screen.effects.say([...names.slice(0, MAX_CANDIDATES), ...more].join('  '), 'good');
}

/** A notice about text that was pasted and not used. */
function ignoredLine(text: string): Line {
  return [say('Ignored, because it was pasted after the end of the line: ', 'warn'), ...quote(text)];
}

/** The highest position of the page that covers the screen: its last row is visible. */
function maxScroll<Controls, Purpose>(screen: PressTarget<Controls, Purpose>): number {
  const { overlay, size } = screen.state();
  const layout = screen.layout();
  if (overlay?.kind === 'help') {
    const { length } = helpLines(
      screen.keys.tables(screen.places()),
      overlay.filter?.text ?? '',
      size.columns,
    );
    return Math.max(0, length - pageRows(layout, false));
  }
  if (overlay?.kind !== 'page') return 0;
  return Math.max(0, pageLines(overlay.page, size.columns).length - pageRows(layout, true));
}

/** The number of rows that a key scrolls. @param hasLetters letters are keys, not text */
function pageScroll(name: string, hasLetters: boolean): number | undefined {
  return SCROLLS[name] ?? (hasLetters ? LETTER_SCROLLS[name] : undefined);
}

const SCROLLS: Readonly<Record<string, number>> = {
  up: -1,
  down: 1,
  pageup: -10,
  pagedown: 10,
  home: Number.NEGATIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
  wheelup: -WHEEL_ROWS,
  wheeldown: WHEEL_ROWS,
};

const LETTER_SCROLLS: Readonly<Record<string, number>> = {
  k: -1,
  j: 1,
  space: 10,
  g: Number.NEGATIVE_INFINITY,
  G: Number.POSITIVE_INFINITY,
};

const CLOSES: ReadonlySet<string> = new Set(['escape', 'enter', '?', 'ctrl+g', 'q']);
