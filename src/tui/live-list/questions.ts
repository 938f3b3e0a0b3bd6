import type { UserChoice } from '../../protocol/callbacks.js';
import type { Line } from '../../render/line.js';
import type { Clock } from '../../system/clock.js';
import { pickerOf } from '../picker.js';
import type { ScreenEffects } from '../screen/effects.js';
import type { Overlay, OverlayOf } from '../screen/state.js';
import type { Store } from '../store.js';
import type { ListPurpose, LiveListAction, LiveListState } from './state.js';

/** A question appears after this time without a key, in ms: a key that is meant for the list must not answer it. */
const QUIET_MS = 500;

interface Asked {
  readonly question: UserChoice;
  /** The call that asks. */
  readonly asker: Line;
  readonly resolve: (selected: number | null) => void;
}

/** The questions of tools, one at a time, while nothing else covers the list. */
export function askQuestions(
  { state, subscribe }: Pick<Store<LiveListState<string>, LiveListAction>, 'state' | 'subscribe'>,
  { show }: Pick<ScreenEffects<ListPurpose>, 'show'>,
  clock: Clock,
) {
  let asked: readonly Asked[] = [];
  let drawn: UserChoice | null = null;
  let pressedAt = Number.NEGATIVE_INFINITY;
  let stopWaiting: (() => void) | null = null;
  let isOver = false;

  const showNext = () => {
    const [next] = asked;
    if (!next || stopWaiting || state().overlay !== null) return;
    const wait = pressedAt + QUIET_MS - clock.now();
    if (wait > 0) {
      stopWaiting = clock.after(wait, () => {
        stopWaiting = null;
        showNext();
      });
      return;
    }
    const { question, asker } = next;
    show({ kind: 'question', purpose: 'choice', picker: pickerOf(question, asker), escapeHint: 'default' });
  };
  const settle = (each: Asked, selected: number | null) => {
    if (!asked.includes(each)) return;
    asked = asked.filter(other => other !== each);
    if (shownQuestion(state().overlay)?.picker.question === each.question) show(null);
    each.resolve(selected);
    showNext();
  };
  subscribe(showNext);

  return {
    /** Resolves to the selected index, to the default if the question was dismissed, or to null if the signal aborts it. */
    choose(question: UserChoice, signal: AbortSignal, asker: Line): Promise<number | null> {
      if (signal.aborted || isOver) return Promise.resolve(null);
      return new Promise(resolve => {
        const abort = () => settle(each, null);
        const each: Asked = {
          question,
          asker,
          resolve(selected) {
            signal.removeEventListener('abort', abort);
            resolve(selected);
          },
        };
        signal.addEventListener('abort', abort);
        asked = [...asked, each];
        showNext();
      });
    },
    /** @param selected null if the user dismissed the question */
    answer(selected: number | null): void {
      const [first] = asked;
      if (first) settle(first, selected ?? first.question.default);
    },
    /** A key was pressed. Returns whether it was pressed before its question was drawn, so that it must not answer it. */
    isEarly(): boolean {
      const shown = shownQuestion(state().overlay);
      if (shown && shown.picker.question !== drawn) return true;
      pressedAt = clock.now();
      return false;
    },
    /** This was drawn. */
    drawn(overlay: Overlay<unknown> | null): void {
      const shown = shownQuestion(overlay)?.picker.question;
      drawn = asked.find(({ question }) => question === shown)?.question ?? null;
    },
    /** Stops asking. */
    end(): void {
      isOver = true;
      stopWaiting?.();
      for (const each of asked) settle(each, null);
    },
  };
}

function shownQuestion<Purpose>(overlay: Overlay<Purpose> | null): OverlayOf<Purpose, 'question'> | null {
  return overlay?.kind === 'question' ? overlay : null;
}
