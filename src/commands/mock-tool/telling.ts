import { colourLevel } from '../../dress/colour-level.js';
import { callbackSecrets } from '../../exchange/callback-secrets.js';
import { unread } from '../../exchange/event-weight.js';
import type { Event } from '../../exchange/events.js';
import { transcriptWriter } from '../../exchange/transcript-writer.js';
import { systemClock } from '../../system/clock.js';
import { visible } from '../../text/visible.js';
import type { MockTool } from '../../tool/mock-tool.js';
import { BoundedLines } from '../bounded-lines.js';
import { DRAWABLE } from '../options.js';
import { PROGRAM } from '../program.js';
import type { Terminal } from '../terminal.js';
import type { MockToolPlan } from './plan.js';

/** How what happens is told while it does. */
export interface Telling {
  /** Something about the mock itself: fixtures were read again, or are broken. */
  notice(text: string, isBad?: boolean): void;
  /** What a person should know, though nothing is wrong. */
  warn(texts: readonly string[]): void;
  /** Resolves when the person at the terminal has had enough; never, where there is none. */
  readonly quit: Promise<void>;
  /** The person wants the fixtures to be read again; never, where there is none. */
  onReload(reload: () => void): void;
  close(): Promise<void>;
}

type Told = Pick<MockTool, 'events' | 'subscribe'>;

const NEVER = new Promise<never>(() => {});

/** Says first where the mock is reached: for programs on stdout, for people wherever they look. */
export async function startTelling(tool: MockTool, plan: MockToolPlan, terminal: Terminal): Promise<Telling> {
  const { stdout, stderr } = terminal;
  const isPiped = stdout.isTTY !== true && plan.command === null;
  if (isPiped) stdout.write(`${JSON.stringify({ port: tool.port, url: tool.url, seed: tool.seed })}\n`);
  const telling =
    plan.output === 'ui' ? await screen(tool, plan, terminal) : await lines(tool, plan, terminal);
  if (plan.output !== 'ui' && !isPiped)
    stderr.write(`mock-tool ${tool.toolset.name} at ${tool.url} (seed ${tool.seed})\n`);
  if (tool.resumed > 0) telling.notice(`calls that go on from the journal: ${tool.resumed}`);
  return telling;
}

/** In lines, or as every event. */
export async function lines(tool: Told, plan: MockToolPlan, terminal: Terminal): Promise<Telling> {
  const stop = await tellLines(tool, plan, terminal);
  const notice = (text: string, isBad = false) =>
    void terminal.stderr.write(`${isBad ? 'warning: ' : ''}${visible(text)}\n`);
  return {
    notice,
    warn: texts => {
      for (const text of texts) notice(text, true);
    },
    quit: NEVER,
    onReload: () => {},
    close: async () => stop(),
  };
}

async function tellLines(tool: Told, plan: MockToolPlan, terminal: Terminal): Promise<() => void> {
  if (plan.output === 'ndjson') return events(tool, terminal);
  if (plan.flags.quiet) return () => {};
  const { mockPlain } = await import('../../reporters/mock-plain.js');
  const { stdout, stderr } = terminal;
  const stream = stdout.isTTY === true && plan.command === null ? stdout : stderr;
  return follow(tool, mockPlain(stream, { level: levelFor(plan, terminal, stream) }));
}

/** Every event as it happens: the lines of a transcript, without the secrets of callback URLs. */
function events(tool: Told, { stdout }: Terminal): () => void {
  const redactor = callbackSecrets();
  const writer = transcriptWriter(redactor);
  const startedAt = new Date().toISOString();
  let latest = { seq: 0, at: 0 };
  const why = 'whoever reads this is too slow for it';
  const lines = new BoundedLines(stdout, count =>
    writer.event({ kind: 'dropped', what: 'event', why, count, ...latest }),
  );
  lines.end(() => [writer.header({ startedAt, observer: 'tool', program: PROGRAM })]);
  const stop = follow(tool, event => {
    lines.write(() => {
      redactor.learn(event);
      return writer.event(unread(event));
    });
    latest = { seq: event.seq, at: event.at };
  });
  return () => {
    stop();
    lines.end(() => [writer.end('done')]);
  };
}

/** From the first event on: it may have come before anybody listened. */
function follow(tool: Told, listener: (event: Event) => void): () => void {
  for (const event of tool.events) listener(event);
  return tool.subscribe(listener);
}

async function screen(tool: MockTool, plan: MockToolPlan, terminal: Terminal): Promise<Telling> {
  const { mockScreen } = await import('../../ui/mock/screen.js');
  const { stdin, stdout, stderr } = terminal;
  let quitting = () => {};
  let reload = () => {};
  const quit = new Promise<void>(resolve => {
    quitting = resolve;
  });
  const view = mockScreen({
    tool: {
      url: tool.url,
      seed: tool.seed,
      get name() {
        return tool.toolset.name;
      },
      get fixtures() {
        return tool.verify().fixtures.length;
      },
    },
    subscribe: listener => follow(tool, listener),
    controls: {
      pause: () => tool.pause(),
      resume: () => tool.resume(),
      redeliver: key => tool.redeliver(key),
      fire: (id, groupId) => tool.fire(id, groupId),
      reload: () => reload(),
      quit: quitting,
    },
    supports: new Set(DRAWABLE),
    stdin,
    stdout,
    clock: systemClock,
    level: levelFor(plan, terminal, stdout),
  });
  const close = async () => {
    await view.close();
    stderr.write(`${view.summary()}\n`); // the list is gone with the screen it stood on
  };
  const warn = (texts: readonly string[]) => {
    if (texts.length > 0) view.notice(texts.join('\n'), true);
  };
  const onReload = (asked: () => void) => {
    reload = asked;
  };
  return { quit, notice: view.notice, warn, onReload, close };
}

function levelFor({ flags }: MockToolPlan, { env }: Terminal, stream: NodeJS.WriteStream) {
  return colourLevel({ env, isTTY: stream.isTTY === true, noColor: !flags.color });
}
