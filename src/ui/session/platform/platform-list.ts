import { createTheme } from '../../../dress/theme.js';
import type { Event } from '../../../exchange/events.js';
import { Sessions } from '../../../exchange/session/sessions.js';
import { sessionNews } from '../../../story/session/news.js';
import type { Frame } from '../../list/frame.js';
import type { Command } from '../../list/keys.js';
import type { Listed } from '../../list/screen.js';
import { FIRST_VIEW, stepView } from '../../list/view.js';
import { Notices } from '../../notices.js';
import type { Size } from '../../terminal.js';
import { CallDetails } from './details.js';
import { keysOf, type Pencil, platformFrame } from './frame.js';
import { tallyLine } from './head.js';
import type { PlatformScreenOptions } from './options.js';

/** What the screen of a platform knows, and what keys do. */
export class PlatformList implements Listed {
  readonly #options: Pick<PlatformScreenOptions, 'platform' | 'clock' | 'onQuit'>;
  readonly #sessions = new Sessions();
  readonly #notices = new Notices();
  readonly #pencil: Pencil;
  #view = FIRST_VIEW;
  /** When the events began, by the clock. */
  #start: number;
  #seen: Pick<Frame, 'height' | 'most'> = { height: 0, most: 0 };

  constructor(options: Pick<PlatformScreenOptions, 'platform' | 'clock' | 'onQuit' | 'level'>) {
    this.#options = options;
    const theme = createTheme(options.level);
    this.#pencil = { theme, details: new CallDetails(theme) };
    this.#start = options.clock.now();
  }

  event(event: Event): void {
    this.#start = this.#options.clock.now() - event.at;
    this.#sessions.apply(event);
    if (!isAside(event)) return;
    const line = sessionNews(event, { sessions: this.#sessions });
    if (line) this.#notices.event(line, this.#now);
  }

  notice(text: string, isBad: boolean): void {
    this.#notices.mock(text, isBad ? 'bad' : 'good', this.#now);
  }

  get summary(): string {
    return tallyLine(this.#sessions.list)
      .map(({ text }) => text)
      .join('');
  }

  command(command: Command): void {
    this.#view = stepView(this.#view, command, { calls: keysOf(this.#sessions.list), ...this.#seen });
    if (command === 'quit') this.#options.onQuit();
  }

  frame(size: Size): Frame {
    const now = this.#now;
    const scene = {
      platform: this.#options.platform,
      sessions: this.#sessions.list,
      view: this.#view,
      notices: this.#notices.lines(now),
      now,
    };
    const frame = platformFrame(scene, size, this.#pencil);
    this.#seen = frame;
    return { ...frame, isRunning: frame.isRunning || this.#notices.isPassing(now) };
  }

  get #now(): number {
    return this.#options.clock.now() - this.#start;
  }
}

/** What no row of a call says: how sessions go, what was refused, what is to be warned of. */
function isAside(event: Event): boolean {
  return event.kind !== 'awaiting' && event.kind !== 'answered';
}
