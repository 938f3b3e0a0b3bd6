import { unread } from '../../events/bounded-events.js';
import type { Event } from '../../events/events.js';
import { callbackSecrets } from '../../events/shareable.js';
import { transcriptWriter } from '../../events/transcript-writer.js';
import { type FixtureSet, usesConsentPage } from '../../fixtures/fixture-set.js';
import { overshadowed } from '../../fixtures/unreachable-fixtures.js';
import { isLoopback } from '../../http/addresses.js';
import { parseHost } from '../../http/guard.js';
import { isWildcard } from '../../http/server.js';
import type { Rate } from '../../mock/answers/rate-limit.js';
import type { MockToolOptions } from '../../mock/mock-state.js';
import type { MockTool } from '../../mock/mock-tool.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { systemClock } from '../../system/drafts.js';
import { ProtocolCliError } from '../../util/errors.js';
import { visible, visibleLine } from '../../util/visible.js';
import { DRAWABLE } from '../options.js';
import {
  checkMcpFlags,
  checkReports,
  flagOf,
  type McpTransport,
  type ReportOptionReportRequest as ReportRequest,
} from '../reports.js';
import { BoundedLines } from '../save-files.js';
import { demoFixtures } from '../target.js';
import { canDraw, type ExitStatus, PROGRAM, type Terminal } from '../terminal.js';
import { loadFixtures } from './load-fixtures.js';
import { refuseSpeed } from './recordings.js';

/** What is about the export itself, or about nothing that it does. */
const OF_EXPORTS = ['export', 'speed', 'color', 'quiet'];

/**
 * What makes no sense together with `--export`, which writes a file and serves nothing.
 * @throws ProtocolCliError `usage` that names it.
 */
function checkExportFlags(
  files: readonly string[],
  { export: target, given = [] }: { readonly export?: string; readonly given?: readonly string[] },
  hasCommand: boolean,
): void {
  if (target === undefined) return;
  if (hasCommand)
    throw exportFlagsUsage(
      '--export serves nothing that a command could use',
      'Serve the exported file to it.',
    );
  const strays = given.filter(option => !OF_EXPORTS.includes(option)).map(flagOf);
  if (strays.length > 0)
    throw exportFlagsUsage(
      `--export serves nothing, and these options are about that: ${strays.join(', ')}`,
      'Leave them out.',
    );
  if (files.length === 0)
    throw exportFlagsUsage(
      '--export needs a transcript',
      'For example: protocol-cli mock-tool run.ndjson --export fixtures.yaml',
    );
}

function exportFlagsUsage(message: string, hint: string): ProtocolCliError {
  return new ProtocolCliError('usage', message, { hint });
}

/** The flags as commander gives them. */
export interface MockToolFlags {
  readonly mcp?: McpTransport;
  /** Which of the options were written out, and not left at their defaults. */
  readonly given?: readonly string[];
  readonly handlers?: string;
  readonly seed?: string;
  /** Of transcripts. */
  readonly speed?: number;
  /** Where transcripts are written to as fixtures; - is stdout. */
  readonly export?: string;
  readonly demo?: true;
  readonly watch?: true;
  readonly allowRepeats?: true;
  readonly rateLimit?: Rate;
  readonly host: string;
  readonly port: number;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
  readonly allowCallback?: readonly string[];
  readonly maxBody: number;
  readonly retries: number;
  readonly maxPending: number;
  readonly drain: number;
  readonly journal?: string;
  readonly fsync?: true;
  readonly keep: number;
  readonly verify?: true;
  readonly report?: readonly ReportRequest[];
  readonly output?: MockToolOutput;
  readonly quiet?: true;
  readonly color: boolean;
}

type MockToolOutput = 'ui' | 'plain' | 'ndjson';

export interface MockToolPlan {
  /** Fixture files and folders; none where the demo is meant. */
  readonly files: readonly string[];
  /** What is run against the mock; null where it serves until it is stopped. */
  readonly command: readonly string[] | null;
  readonly output: MockToolOutput;
  /** Null where it speaks RAP. */
  readonly mcp: McpTransport | null;
  readonly isVerified: boolean;
  readonly reports: readonly ReportRequest[];
  readonly flags: MockToolFlags;
  readonly tool: Omit<MockToolOptions, 'fixtures' | 'handlers' | 'middleware'>;
}

/** @throws ProtocolCliError `usage`. */
export function readPlan(words: readonly string[], flags: MockToolFlags, terminal: Terminal): MockToolPlan {
  const command = terminal.afterDashes;
  const files = command ? words.slice(0, words.length - command.length) : words;
  if (command?.length === 0)
    throw new ProtocolCliError('usage', 'there is no command after --', {
      hint: 'For example: protocol-cli mock-tool fixtures.yaml -- npm test',
    });
  checkExportFlags(files, flags, command !== null);
  checkFlags(files, flags);
  checkMcpFlags(flags, command !== null);
  const output = outputOf(flags, terminal, command !== null);
  checkReports(flags.report ?? [], command !== null || output === 'ndjson' || flags.mcp === 'stdio');
  return {
    files,
    command,
    output,
    mcp: flags.mcp ?? null,
    isVerified: flags.verify === true || command !== null,
    reports: flags.report ?? [],
    flags,
    tool: toolOptions(flags),
  };
}

/** What makes no sense together. */
function checkFlags(
  files: readonly string[],
  { watch, demo, fsync, journal, keep, handlers }: MockToolFlags,
) {
  if (watch && files.length === 0) throw usage('--watch needs fixture files to watch');
  if (demo && (files.length > 0 || handlers !== undefined))
    throw usage('--demo serves the bundled demo, and nothing beside it', 'Leave out --demo, or the rest.');
  if (fsync && journal === undefined)
    throw usage('--fsync is about a journal, and there is none', 'Add --journal <file>.');
  if (keep === 0) throw usage('--keep 0 would remember nothing', 'The least is --keep 1.');
}

function usage(message: string, hint?: string): ProtocolCliError {
  return new ProtocolCliError('usage', message, hint === undefined ? {} : { hint });
}

function outputOf({ output, mcp }: MockToolFlags, terminal: Terminal, hasCommand: boolean): MockToolOutput {
  const drawable = !hasCommand && mcp === undefined && canDraw(terminal);
  if (output === 'ui' && !drawable)
    throw new ProtocolCliError('usage', '-o ui needs a terminal of at least 40×8 for itself, outside CI', {
      hint: '-o plain tells the same in lines.',
    });
  if (output === 'ndjson' && hasCommand)
    throw new ProtocolCliError('usage', '-o ndjson and a command both want stdout', {
      hint: 'Ask GET /__mock__/journal with Accept: application/x-ndjson instead.',
    });
  return output ?? (drawable ? 'ui' : 'plain');
}

function toolOptions(flags: MockToolFlags): MockToolPlan['tool'] {
  const { seed, rateLimit, journal, fsync = false } = flags;
  return {
    host: flags.host,
    port: flags.port,
    allowHosts: flags.allowHost ?? [],
    allowCallbacks: flags.allowCallback ?? [],
    maxBody: flags.maxBody,
    retries: flags.retries,
    maxPending: flags.maxPending,
    drainMs: flags.drain,
    keep: flags.keep,
    allowRepeats: flags.allowRepeats === true,
    program: PROGRAM,
    ...(seed !== undefined && { seed }),
    ...(rateLimit && { rateLimit }),
    ...(journal !== undefined && { journal: { path: journal, sync: fsync } }),
  };
}

/** What answers, and what is to be said of how it was read. */
export interface Sources extends Pick<MockToolOptions, 'fixtures' | 'handlers' | 'middleware'> {
  readonly warnings?: readonly string[];
}

/** Fixtures, handlers, or both; the demo where nothing is named. @throws ProtocolCliError as reading them does. */
export async function sourcesOf(
  files: readonly string[],
  { handlers: path, speed }: Pick<MockToolFlags, 'handlers' | 'speed'>,
  { cwd, hostsCode }: Pick<Terminal, 'cwd' | 'hostsCode'>,
): Promise<Sources> {
  if (path !== undefined) hostsCode();
  const handlers = path === undefined ? {} : await handlersOf(path, cwd);
  if (files.length > 0) return { ...handlers, ...(await loadFixtures(files, speed)) };
  refuseSpeed(speed);
  return path === undefined ? { fixtures: await demoFixtures() } : handlers;
}

async function handlersOf(path: string, cwd: string) {
  const { loadHandlers } = await import('../../mock/load-handlers.js');
  return loadHandlers(path, cwd);
}

/** What a person should know at the start, though nothing is wrong. @param url the mock's own base URL. */
export function startWarnings(
  { host, allowHost = [] }: Pick<MockToolFlags, 'host' | 'allowHost'>,
  url: string,
  fixtures: FixtureSet | undefined,
): string[] {
  return [
    ...openWarnings({ host }),
    ...(fixtures
      ? [...consentWarnings([new URL(url).host, ...allowHost], fixtures), ...fixtureWarnings(fixtures)]
      : []),
  ];
}

export function openWarnings({ host }: Pick<MockToolFlags, 'host'>): string[] {
  return isWildcard(host) ? [`it is open to the network (--host ${host})`] : [];
}

/** Fixtures that can never answer; that may be meant, so it is no fault. */
export function fixtureWarnings({ fixtures }: Pick<FixtureSet, 'fixtures'>): string[] {
  return overshadowed(fixtures).map(({ fixture: { id, place }, by }) => {
    const where = id === place ? '' : ` (${place})`;
    return visibleLine(
      `fixture ${id} can never answer: ${by.id}, which stands before it, takes every call it could match${where}`,
    );
  });
}

/** An `auth_url` names the mock as its runtime reaches it, and the page has no https (TOOL-OAUTH). */
function consentWarnings(hosts: readonly string[], fixtures: FixtureSet): string[] {
  const [stranger] = hosts.filter(host => !isLoopback(parseHost(host)?.name ?? ''));
  if (stranger === undefined || !usesConsentPage(fixtures)) return [];
  return [
    `runtimes that call it as ${visibleLine(stranger)} must refuse the auth_url of its consent page, which is http: and not on loopback (TOOL-OAUTH); give the oauth step an https auth_url of its own`,
  ];
}

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
  const { mockPlain } = await import('../../render/outputs/mock-plain.js');
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
  const { mockScreen } = await import('../../tui/mock/screen.js');
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

/** A mock that is up, whichever protocol it speaks. */
export interface Served {
  readonly tool: Pick<MockTool, 'verify'> & { replaceFixtures(fixtures: FixtureSet): Promise<void> };
  /** How a command after `--` finds it. */
  readonly env: Readonly<Record<string, string>>;
  /** What a person should know at the start, though nothing is wrong. */
  readonly warnings: readonly string[];
  /** Resolves when nobody is left to be served; never where somebody may still come. */
  readonly over: Promise<void>;
  /** Says where it is reached, and then what happens. */
  tell(): Promise<Telling>;
  close(): Promise<void>;
  /** Once it is closed: other than 0 where something went wrong with the mock itself. */
  status(): ExitStatus;
}
