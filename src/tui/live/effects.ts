import { openPages } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { OAuth, UserChoice } from '../../protocol/callbacks.js';
import type { Clock } from '../../system/clock.js';
import { createStore } from '../store.js';
import type { Size } from '../tty.js';
import { visitPage } from '../visit.js';
import { answerableOf, liveStateOf, reduceLive, type Subject, shownPicker, subjectOf } from './state.js';

/** Keys that arrive within this time after a question was drawn are dropped: they were typed before the user saw it. */
const SETTLE_MS = 50;

interface LiveOptions {
  readonly history: History;
  readonly clock: Clock;
  readonly size: () => Size;
  /** The action of Ctrl-C, which is an ordinary key in raw mode. */
  readonly interrupt: () => void;
}

export type Live = ReturnType<typeof createLive>;

/** The state of a live view, and all that happens outside of it: questions are answered, pages opened, calls interrupted. */
export function createLive({ history, clock, size, interrupt }: LiveOptions) {
  const start = clock.now();
  const store = createStore(reduceLive, liveStateOf(size()));
  const { dispatch } = store;
  const answers = new Map<UserChoice, (selected: number | null) => void>();

  const answer = (question: UserChoice, selected: number | null) => {
    const resolve = answers.get(question);
    answers.delete(question);
    dispatch({ type: 'answer', question });
    resolve?.(selected);
  };

  /** Opens only one window, however often the key is pressed. */
  const visit = async (page: OAuth) => {
    const { visit: last } = store.state();
    if (last?.page === page && last.outcome === null) return;
    dispatch({ type: 'visit', visit: { page, outcome: null } });
    dispatch({ type: 'visit', visit: { page, outcome: await visitPage(page.auth_url) } });
  };

  const page = () => [...history.exchanges.values()].flatMap(openPages)[0] ?? null;

  return {
    ...store,
    refresh(): void {
      dispatch({ type: 'refresh', size: size(), now: clock.now() - start, page: page() });
    },
    /** Whether the history has another page to visit than the state. */
    hasNewPage: (): boolean => page() !== store.state().page,
    /**
     * Asks one question at a time. Resolves to the selected index, to the default if the question was dismissed, or to null if the signal
     * aborts it.
     */
    ask(question: UserChoice, signal: AbortSignal): Promise<number | null> {
      if (signal.aborted) return Promise.resolve(null);
      const abort = () => answer(question, null);
      const answered = new Promise<number | null>(resolve => answers.set(question, resolve));
      signal.addEventListener('abort', abort);
      dispatch({ type: 'ask', question });
      return answered.finally(() => signal.removeEventListener('abort', abort));
    },
    press(key: string): void {
      const state = store.state();
      const asks = answerableOf(state);
      const picker = shownPicker(state);
      if (key === 'ctrl+c') interrupt();
      else if (asks?.type === 'oauth' && key === 'o') void visit(asks);
      else if (asks?.type !== 'user_choice' || !picker) return;
      else if (key === 'enter') answer(asks, picker.selected);
      else if (key === 'escape') answer(asks, asks.default);
      else dispatch({ type: 'press', key });
    },
    /** A frame with the subject is drawn, and keys typed before it have been read. */
    drawn(subject: Subject): void {
      if (subject) clock.after(SETTLE_MS, () => dispatch({ type: 'ready', subject }));
    },
    /** Stops asking: the next frame is the last one. */
    end(): void {
      dispatch({ type: 'end' });
      for (const question of answers.keys()) answer(question, null);
    },
    subject: (): Subject => subjectOf(store.state()),
  };
}
