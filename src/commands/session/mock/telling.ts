import { colourLevel } from '../../../dress/colour-level.js';
import type { Event } from '../../../exchange/events.js';
import { type TranscriptAbout, transcriptWriter } from '../../../exchange/transcript-writer.js';
import { warningText } from '../../../reporters/trouble.js';
import type { SessionPlatform } from '../../../session/platform/platform.js';
import { systemClock } from '../../../system/clock.js';
import type { Redactor } from '../../../text/redact.js';
import { isWildcard } from '../../../transport/server.js';
import { BoundedLines } from '../../bounded-lines.js';
import type { Terminal } from '../../terminal.js';
import type { SessionMockPlan } from './plan.js';

interface TellingDesk {
  readonly plan: SessionMockPlan;
  readonly terminal: Terminal;
  readonly redactor: Redactor;
  readonly about: TranscriptAbout;
}

/** How what happens is told while it does. */
export interface Telling {
  /** Resolves when the person at the terminal has had enough; never, where there is none. */
  readonly quit: Promise<void>;
  end(): Promise<void>;
}

const SILENCE: Telling = { quit: new Promise<never>(() => {}), end: async () => {} };

/** Says first where the platform is reached, then what happens there, from its first event on. */
export async function startTelling(platform: SessionPlatform, desk: TellingDesk): Promise<Telling> {
  const { plan, terminal } = desk;
  if (plan.output === 'ui') return screen(platform, desk);
  tellReady(platform, plan, terminal);
  if (plan.output === 'ndjson') return events(platform, desk);
  if (plan.flags.quiet) return SILENCE;
  const { sessionPlain } = await import('../../../reporters/session-plain.js');
  const { stdout, stderr } = terminal;
  const stream = stdout.isTTY === true && plan.command === null ? stdout : stderr;
  follow(platform, sessionPlain(stream, { level: levelFor(desk, stream), redactor: desk.redactor }));
  return SILENCE;
}

async function screen(platform: SessionPlatform, desk: TellingDesk): Promise<Telling> {
  const { platformScreen } = await import('../../../ui/session/platform/screen.js');
  const { stdin, stdout, stderr } = desk.terminal;
  let quitting = () => {};
  const quit = new Promise<void>(resolve => {
    quitting = resolve;
  });
  const view = platformScreen({
    platform: { url: platform.url, session: platform.session, key: desk.plan.toldKey },
    subscribe: listener => follow(platform, listener),
    stdin,
    stdout,
    clock: systemClock,
    level: levelFor(desk, stdout),
    onQuit: quitting,
  });
  const [warning] = openness(desk.plan);
  if (warning !== undefined) view.notice(warning, true);
  const end = async () => {
    await view.close();
    stderr.write(`${view.summary()}\n`); // the list is gone with the screen it stood on
  };
  return { quit, end };
}

/** For programs on stdout, with the key; for people on stderr, with a random one only: they know what they gave. */
function tellReady(
  { port, url, session }: SessionPlatform,
  { command, flags, key, toldKey }: SessionMockPlan,
  { stdout, stderr }: Terminal,
): void {
  const isPiped = stdout.isTTY !== true && command === null;
  if (isPiped) stdout.write(`${JSON.stringify({ port, url, key, session })}\n`);
  else
    stderr.write(`session mock at ${url}, session ${session}${toldKey === null ? '' : `, key ${toldKey}`}\n`);
  for (const message of openness({ flags })) stderr.write(warningText({ message }));
}

function openness({ flags: { host } }: Pick<SessionMockPlan, 'flags'>): string[] {
  return isWildcard(host) ? [`it is open to the network (--host ${host})`] : [];
}

function levelFor({ plan, terminal: { env } }: TellingDesk, stream: NodeJS.WriteStream) {
  return colourLevel({ env, isTTY: stream.isTTY === true, noColor: !plan.flags.color });
}

/** Every event as it happens: the lines of a transcript. */
function events(platform: SessionPlatform, { terminal: { stdout }, redactor, about }: TellingDesk): Telling {
  const writer = transcriptWriter(redactor);
  let latest = { seq: 0, at: 0 };
  const why = 'whoever reads this is too slow for it';
  const lines = new BoundedLines(stdout, count =>
    writer.event({ kind: 'dropped', what: 'event', why, count, ...latest }),
  );
  lines.end(() => [writer.header(about)]);
  follow(platform, event => {
    lines.write(() => writer.event(event));
    latest = { seq: event.seq, at: event.at };
  });
  return { ...SILENCE, end: async () => lines.end(() => [writer.end('done')]) };
}

/** From the first event on: it came before anybody listened. */
function follow(platform: SessionPlatform, listener: (event: Event) => void): () => void {
  for (const event of platform.events) listener(event);
  return platform.subscribe(listener);
}
