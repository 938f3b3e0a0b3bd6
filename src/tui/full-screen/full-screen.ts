import type { Key } from 'ink';
import type { Event } from '../../events/events.js';
import type { Listener } from '../../events/log.js';
import { type Line, say } from '../../render/line.js';
import { cutLine, dressLine, fitRows, type Theme } from '../../render/terminal/theme.js';
import type { Clock } from '../../system/drafts.js';
import { beforeAnyEnd } from '../../system/watch-files.js';
import { filled, wrapLines } from '../layout.js';
import type { Asked } from '../picker.js';
import { createStore, isLargeEnough, type Size, sizeOf, throttled, tooSmallWords } from '../terminal.js';
import type { AppProps, Shown } from './app.js';

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const ENTER = `\u001b[?1049h\u001b[H${HIDE_CURSOR}`;
const LEAVE = `${SHOW_CURSOR}\u001b[?1049l`;
const WIPE = '\u001b[H\u001b[J';

interface Curtain {
  /** Somebody else draws from here on, from the top, and calls `leave` at the end. */
  handOver(): void;
  leave(): void;
}

/**
 * The alternate screen with a first frame on it, in raw mode: what is typed from now on is a key for whoever draws later. Until
 * then the terminal is put back however the process ends.
 */
function raiseCurtain(
  rows: readonly string[],
  { stdin, stdout }: { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream },
): Curtain {
  let isUp = true;
  const leave = () => {
    if (isUp) stdout.write(LEAVE);
    isUp = false; // once more, it would move the cursor of whoever is there now
  };
  const forget = beforeAnyEnd(() => {
    stdin.setRawMode(false);
    leave();
  });
  stdin.setRawMode(true);
  stdout.write(`${ENTER}${rows.join('\n')}`);
  return {
    handOver() {
      forget();
      stdout.write(WIPE);
    },
    leave,
  };
}

/** What is played on a screen. */
export interface Play {
  press(input: string, key: Key): void;
  /** Rows, never more than fit; `isRunning`: they change as time goes on. */
  frame(size: Size): { readonly rows: readonly string[]; readonly isRunning: boolean };
}

interface Stage {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly clock: Clock;
}

export interface FullScreen {
  /** Something is to be seen now that was not. */
  changed(): void;
  close(): Promise<void>;
}

/** At most 20 frames a second, however much happens. */
const FRAME_MS = 50;
const TICK_MS = 100;

/**
 * A play on the alternate screen: what stood in the terminal before is there again afterwards, also after a signal or a crash.
 * Its first frame does not wait until Ink is loaded. Needs a terminal on both ends.
 */
export function fullScreen(play: Play, { stdin, stdout, clock }: Stage): FullScreen {
  const store = createStore<Shown>({ rows: [] });
  let stopTick = () => {};
  const draw = () => {
    const size = sizeOf(stdout);
    const { rows, isRunning } = isLargeEnough(size) ? play.frame(size) : tooSmall(size);
    store.set({ rows });
    stopTick();
    if (isRunning) stopTick = clock.after(TICK_MS, frames.ask);
  };
  const frames = throttled(clock, FRAME_MS, draw);
  const onPress = (input: string, key: Key) => {
    if (isLargeEnough(sizeOf(stdout)) || isInterrupt(input, key)) play.press(input, key);
    frames.ask();
  };
  draw(); // before the screen is taken: a play that cannot begin leaves it alone
  const curtain = raiseCurtain(store.snapshot().rows, { stdin, stdout });
  const showing = show({ store, onPress, onLeave: curtain.leave }, curtain.handOver, { stdin, stdout });
  stdout.on('resize', frames.ask);
  return {
    changed: frames.ask,
    async close() {
      frames.stop();
      stopTick();
      stdout.off('resize', frames.ask);
      await (await showing).close();
    },
  };
}

/** It is the play's again once there is room. */
function tooSmall(size: Size) {
  return { rows: [tooSmallWords(size)], isRunning: false };
}

/** Whoever sees nothing can leave, and no more. */
function isInterrupt(input: string, { ctrl }: Key): boolean {
  return ctrl && input === 'c';
}

async function show(props: AppProps, onReady: () => void, ends: Pick<Stage, 'stdin' | 'stdout'>) {
  const { inkView } = await import('./app.js');
  onReady();
  return inkView(props, ends);
}

/** What a server plays: it hears of everything that happens, and never keeps the server waiting. */
export interface ServerPlay extends Play {
  event(event: Event): void;
  notice(text: string, isBad: boolean): void;
  readonly summary: string;
  /** Nobody looks any more. */
  close?(): void;
}

export interface ServerStage extends Stage {
  readonly subscribe: (listener: Listener) => () => void;
}

export interface ServerScreen {
  /** Something about the server itself; what is bad stands until the next notice. */
  notice(text: string, isBad?: boolean): void;
  /** How it went, in a line. */
  summary(): string;
  close(): Promise<void>;
}

/** What a server does, live, on a screen of its own. Needs a terminal on both ends. */
export function serverScreen(
  playWith: (onChange: () => void) => ServerPlay,
  { subscribe, ...stage }: ServerStage,
): ServerScreen {
  const play = playWith(() => screen.changed());
  const screen = fullScreen(play, stage);
  const unsubscribe = subscribe(event => {
    play.event(event);
    screen.changed();
  });
  return {
    notice(text, isBad = false) {
      play.notice(text, isBad);
      screen.changed();
    },
    summary: () => play.summary,
    async close() {
      unsubscribe();
      play.close?.();
      await screen.close();
    },
  };
}

/** Rows from which on a blank one below the head is no waste. */
const ROOMY = 16;
const MOST_NOTICES = 4;

/** Everything around the page. */
interface Around {
  readonly head: readonly Line[];
  readonly notices: readonly Line[];
  /** What is asked, in the room that there is, with the row of its keys; null where nothing is. */
  readonly asked: (size: Size) => Asked | null;
  /** Keys, or what is typed. */
  readonly foot: Line;
}

/** The rows of a frame by what they are for. */
export interface Plan {
  readonly head: readonly string[];
  /** What the page has. */
  readonly body: Size;
  readonly asked: readonly string[];
  readonly foot: readonly string[];
}

/** How much room there is for the page: a frame is one row below the terminal's height, what scrolls cannot be wiped any more. */
export function planOf({ head: above, notices, asked, foot: below }: Around, size: Size, theme: Theme): Plan {
  const { columns } = size;
  const height = Math.max(1, size.rows - 1);
  const draw = (line: Line) => dressLine(cutLine(line, columns), theme);
  const isRoomy = height >= ROOMY;
  const said = isRoomy ? noticeRows(notices, columns, theme) : notices.slice(-1).map(draw);
  const footHeight = Math.min(height, said.length + 1);
  const head = [...above.map(draw), ...(isRoomy ? [''] : [])].slice(0, height - footHeight);
  const left = height - head.length - footHeight;
  const question = asked({ columns, rows: left + 1 });
  const asking = question?.rows.slice(0, left) ?? [];
  const foot = [...said, draw(question?.keys ?? below)].slice(-height);
  return { head, body: { columns, rows: left - asking.length }, asked: asking, foot };
}

function noticeRows(notices: readonly Line[], columns: number, theme: Theme): readonly string[] {
  const more = (count: number) => dressLine([say(`… ${count} more rows`, 'dim')], theme);
  return fitRows(wrapLines(notices, columns, theme), MOST_NOTICES, more);
}

/** The frame whole, around its page. */
export function frameOf({ head, body, asked, foot }: Plan, page: readonly string[]): readonly string[] {
  return [...head, ...filled(page, body.rows), ...asked, ...foot];
}
