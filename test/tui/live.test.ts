import { expect, test, vi } from 'vitest';
import { History } from '../../src/events/history.js';
import type { OAuth } from '../../src/protocol/callbacks.js';
import { createLive } from '../../src/tui/live/effects.js';
import {
  answerableOf,
  type LiveAction,
  liveStateOf,
  reduceLive,
  shownPicker,
  subjectOf,
} from '../../src/tui/live/state.js';
import { OAUTH } from '../events/build.js';
import { question } from '../screen/support/scenes.js';
import { fakeClock } from '../support/fake-clock.js';

const SIZE = { columns: 80, rows: 24 };
const ONE = question('One?', ['a', 'b']);
const TWO = question('Two?', ['a', 'b']);
const PAGE = OAUTH as OAuth;
const { signal: never } = new AbortController();

const after = (...actions: readonly LiveAction[]) => actions.reduce(reduceLive, liveStateOf(SIZE));
const asked = (asks: typeof ONE): LiveAction => ({ type: 'ask', question: asks });
const ready = (subject: typeof ONE): LiveAction => ({ type: 'ready', subject });
const shown = (page: OAuth | null): LiveAction => ({ type: 'refresh', size: SIZE, now: 0, page });

test('questions are shown one after the other, before a page to visit', () => {
  expect(subjectOf(after())).toBeNull();
  expect(subjectOf(after(shown(PAGE)))).toBe(PAGE);
  expect(subjectOf(after(shown(PAGE), asked(ONE), asked(TWO)))).toBe(ONE);
  expect(subjectOf(after(asked(ONE), asked(TWO), { type: 'answer', question: ONE }))).toBe(TWO);
});

test('a question is shown, and keys select, only when the user has had time to see it', () => {
  const down: LiveAction = { type: 'press', key: 'down' };
  expect(shownPicker(after(asked(ONE), down))).toBeNull();
  expect(shownPicker(after(asked(ONE), down, ready(ONE)))?.selected).toBe(0);
  expect(shownPicker(after(asked(ONE), ready(ONE), down))?.selected).toBe(1);
  expect(
    answerableOf(after(asked(ONE), ready(ONE), { type: 'answer', question: ONE }, asked(TWO))),
  ).toBeNull();
});

test('while other code uses the terminal, and at the end, there is nothing to answer', () => {
  const aside = (isAside: boolean): LiveAction => ({ type: 'aside', isAside });
  expect(subjectOf(after(asked(ONE), aside(true)))).toBeNull();
  expect(subjectOf(after(asked(ONE), aside(true), aside(false)))).toBe(ONE);
  expect(subjectOf(after(asked(ONE), { type: 'end' }))).toBeNull();
});

function open() {
  const clock = fakeClock();
  const interrupt = vi.fn();
  const live = createLive({ history: new History(), clock, size: () => SIZE, interrupt });
  const see = () => {
    live.drawn(live.subject());
    clock.advance(50);
  };
  return { live, see, interrupt };
}

test('Enter answers with the selected choice, Escape with the default', async () => {
  const { live, see } = open();
  const [one, two] = [live.ask(ONE, never), live.ask(TWO, never)];
  see();
  for (const key of ['down', 'enter']) live.press(key);
  expect(await one).toBe(1);
  live.press('enter'); // typed before the second question was seen
  see();
  for (const key of ['down', 'escape']) live.press(key);
  expect(await two).toBe(0);
  expect(live.state().asked).toEqual([]);
});

test('a question has no answer if its signal aborts it, or at the end', async () => {
  const { live } = open();
  const stop = new AbortController();
  const [one, two] = [live.ask(ONE, stop.signal), live.ask(TWO, never)];
  stop.abort();
  expect(await one).toBeNull();
  expect(live.subject()).toBe(TWO);
  live.end();
  expect(await two).toBeNull();
  expect(await live.ask(ONE, stop.signal)).toBeNull();
});

test('Ctrl-C interrupts at any time', () => {
  const { live, interrupt } = open();
  live.press('ctrl+c');
  expect(interrupt).toHaveBeenCalledOnce();
});
