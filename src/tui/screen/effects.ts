import type { Event } from '../../events/events.js';
import { type Line, quote, type Tone } from '../../render/line.js';
import type { Clock } from '../../system/clock.js';
import { textInput } from '../text-input.js';
import type { NoticeKind, Overlay, ScreenAction } from './state.js';

/** How long a notice is shown, in ms. */
const SHOWN_MS = 6_000;

/** The result of an action, as a message for the user. */
export interface ActionResult {
  readonly text: string;
  readonly isBad: boolean;
}

/** What every full screen does besides drawing: it knows the time, shows notices and asks. */
export interface ScreenEffects<Purpose> {
  /** Milliseconds since the first event. */
  readonly now: () => number;
  /** The time when a notice that begins now ends. */
  readonly soon: () => number;
  /** Learns from an event when the first one was. */
  readonly tellTime: (event: Event) => void;
  /** Replaces the notice of this kind. Returns when it ends. @param stays until it is replaced */
  readonly note: (kind: NoticeKind, lines: readonly Line[], stays?: boolean) => number;
  readonly say: (text: string, tone?: Tone) => void;
  readonly report: (result: ActionResult) => void;
  /** Shows a message about the server itself; an error stays until the next message. */
  readonly notice: (text: string, isBad?: boolean) => void;
  readonly show: (overlay: Overlay<Purpose> | null) => void;
  /** @param isSuggested the first typed text replaces the text */
  readonly ask: (label: string, purpose: Purpose, text?: string, isSuggested?: boolean) => void;
  readonly showHelp: () => void;
}

export function screenEffects<Purpose>(
  dispatch: (action: ScreenAction<Purpose>) => void,
  clock: Clock,
): ScreenEffects<Purpose> {
  let start = clock.now();
  const now = () => clock.now() - start;
  const soon = () => now() + SHOWN_MS;
  const note: ScreenEffects<Purpose>['note'] = (kind, lines, stays = false) => {
    const until = stays ? Number.POSITIVE_INFINITY : soon();
    dispatch({ type: 'note', kind, lines, until });
    return until;
  };
  const show = (overlay: Overlay<Purpose> | null) => dispatch({ type: 'show', overlay });
  const say = (text: string, tone: Tone = 'plain') => void note('key', [quote(text, tone)]);
  return {
    now,
    soon,
    tellTime({ at }) {
      start = clock.now() - at;
    },
    note,
    say,
    report: ({ text, isBad }) => say(text, isBad ? 'bad' : 'good'),
    notice(text, isBad = false) {
      const lines = text.split('\n').map(line => quote(line, isBad ? 'bad' : 'good'));
      note('server', lines, isBad);
    },
    show,
    ask: (label, purpose, text = '', isSuggested = false) =>
      show({ kind: 'prompt', label, purpose, input: textInput(text), isSuggested }),
    showHelp: () => show({ kind: 'help', scroll: 0, filter: null }),
  };
}
