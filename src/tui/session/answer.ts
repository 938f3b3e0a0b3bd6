import type { Page } from '../../render/outputs/reporter.js';
import { endTexts, type SessionReporter, warningsOfSession } from '../../render/outputs/session.js';
import type { KnownCall } from '../../render/session-calls.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import { lineStyler } from '../../render/terminal/wrap.js';
import type { Clock } from '../../system/clock.js';
import { copyToClipboard } from '../clipboard.js';
import { bind, Keys } from '../keys.js';
import { tableLines } from '../layout.js';
import { LIST_KEYS, READING_KEYS, tabKeys } from '../list/list-keys.js';
import { fullScreenList } from '../live-list/full-screen-list.js';
import { createLiveList, type LiveListControls } from '../live-list/live-list.js';
import { showCopied } from '../screen/copied.js';
import type { ActionResult } from '../screen/effects.js';
import type { TtyStreams } from '../tty.js';
import { visitPage } from '../visit.js';
import {
  answeredCalls,
  answeredRow,
  answerTabs,
  askerLine,
  callsOfSession,
  pageOf,
  type ShownSession,
  sessionLines,
} from './answered-calls.js';
import { CALLS_OF_ONE } from './session-calls.js';

/** What the keys of a session act on. */
interface AnswerControls extends LiveListControls<KnownCall> {
  /** The page that the selected call, or else any call, asks the user to open. */
  readonly page: () => string | undefined;
  readonly visit: (url: string) => void;
  readonly copy: (text: string) => ActionResult;
}

const pageHint = (hint: string) => (answer: AnswerControls) => (answer.page() === undefined ? null : hint);

function usePage(answer: AnswerControls, use: (url: string) => void): void {
  const url = answer.page();
  if (url === undefined) answer.effects.say('No call is waiting for consent.');
  else use(url);
}

export function answerKeys(hasTool: boolean): Keys<AnswerControls> {
  return new Keys<AnswerControls>([
    bind<AnswerControls>(
      'everywhere',
      'o',
      'open the consent page',
      answer => usePage(answer, answer.visit),
      pageHint('consent page'),
      { isUrgent: true },
    ),
    bind<AnswerControls>(
      'everywhere',
      'U',
      'copy the URL of the consent page',
      answer => usePage(answer, url => showCopied(answer.effects, url, answer.copy(url))),
      pageHint('copy its URL'),
      { isUrgent: true },
    ),
    bind('everywhere', '?', 'show or hide the keys', answer => answer.effects.showHelp()),
    bind('everywhere', 'q ctrl+c', 'stop answering; again: at once', answer => answer.quit()),
    ...LIST_KEYS,
    ...tabKeys('calls', answerTabs(hasTool)),
    ...READING_KEYS,
  ]);
}

interface AnswerOptions extends ShownSession {
  readonly clock: Clock;
  readonly level: ColourLevel;
  /** Copies to the clipboard of the terminal. */
  readonly copy: (text: string) => ActionResult;
  readonly visit: (url: string) => Promise<ActionResult>;
  /** The action of Ctrl-C, which is an ordinary key in raw mode. A second one forces the exit. */
  readonly interrupt: () => void;
}

/** The screen of a session that this program answers. */
export function createAnswerScreen({ clock, level, copy, visit, interrupt, ...shown }: AnswerOptions) {
  const opening = new Set<string>();
  /** Opens only one window, however often the key is pressed. */
  const visitOnce = async ({ effects }: LiveListControls<KnownCall>, url: string) => {
    if (opening.has(url)) return;
    opening.add(url);
    effects.report(await visit(url));
    opening.delete(url);
  };
  let isInterrupting = false;
  return createLiveList({
    source: (now, onChange) => answeredCalls(shown, now, onChange),
    keys: answerKeys(shown.hasTool),
    controls: base => ({
      ...base,
      page() {
        const selected = base.selected();
        const all = [...(selected ? [selected] : []), ...callsOfSession(shown)];
        return all.flatMap(call => pageOf(call) ?? [])[0]?.auth_url;
      },
      visit: (url: string) => void visitOnce(base, url),
      copy,
    }),
    copy,
    quit(effects) {
      if (isInterrupting) return; // of several keys that arrive at once only one counts
      isInterrupting = true;
      setImmediate(() => {
        isInterrupting = false;
      });
      effects.say('Stopping: the calls at the tool are canceled.');
      interrupt();
    },
    clock,
    level,
  });
}

interface LiveSessionOptions extends TtyStreams, Omit<AnswerOptions, 'level' | 'copy' | 'visit'> {
  readonly page: Page;
}

/**
 * Shows `session answer` full screen. After the end, what the session and its calls came to is printed, as by `-o plain`. Needs a terminal
 * on stdin and stdout.
 */
export function liveSession({ page, stdin, stdout, ...options }: LiveSessionOptions): SessionReporter {
  const { known, clock, redactor } = options;
  const { level, background, quiet, columns } = page;
  const copy = (text: string) => copyToClipboard(stdout, text);
  const list = createAnswerScreen({ ...options, level, copy, visit: visitPage });
  const open = () => fullScreenList(list, { stdin, stdout, level, background, clock });
  let screen = open();
  let isOver = false;
  /** The state of the session, and a line for each call; nothing if the platform did not answer. */
  const outcome = () => {
    if (!known.sessions.get(options.session.id)) return [];
    const rows = callsOfSession(options).map(call => answeredRow(call, list.now(), redactor));
    const table = rows.length === 0 ? [] : tableLines(CALLS_OF_ONE, rows, undefined, columns ?? 80);
    return [...sessionLines(options, list.now()), ...table];
  };
  return {
    event: list.event,
    choose(question, signal) {
      const asker = callsOfSession(options).find(({ call }) => call.key === question.id); // an invocation's id is the key of its call
      return list.questions.choose(question, signal, asker ? askerLine(asker) : []);
    },
    /** Leaves the screen during `work`. */
    async lendTerminal(work) {
      await screen.close();
      return work().finally(() => {
        if (!isOver) screen = open();
      });
    },
    async close() {
      isOver = true;
      list.questions.end();
      await screen.close();
    },
    end(ending) {
      const texts = endTexts(known.sessions.get(ending.session.id), known, quiet);
      const styled = lineStyler({ level, background, redactor });
      page.out.write([...(quiet ? [] : [outcome()]), ...texts].map(styled).join(''));
      return page.end(warningsOfSession(ending), ending.trouble);
    },
  };
}
