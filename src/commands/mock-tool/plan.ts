import { unread } from '../../events/bounded-events.js';
import { callbackSecrets } from '../../events/shareable.js';
import { type FixtureSet, usesConsentPage } from '../../fixtures/fixture-set.js';
import { overshadowed } from '../../fixtures/unreachable-fixtures.js';
import { isLoopback } from '../../http/addresses.js';
import { parseHost } from '../../http/guard.js';
import type { MockToolOptions } from '../../mock/mock-state.js';
import type { MockTool } from '../../mock/mock-tool.js';
import type { Rate } from '../../mock/rate-limit.js';
import { systemClock } from '../../system/drafts.js';
import { ProtocolCliError } from '../../util/errors.js';
import { visible, visibleLine } from '../../util/visible.js';
import { DRAWABLE, type ServerOutput } from '../options.js';
import { colourOf, type Subscribe, streamForPeople, streamTranscript, subscribeToAll } from '../output.js';
import {
  checkMcpFlags,
  checkReports,
  flagOf,
  type McpTransport,
  type ReportOptionReportRequest as ReportRequest,
} from '../reports.js';
import { chooseServerOutput, networkWarnings, printReady, splitCommand } from '../run-server.js';
import { demoFixtures } from '../target.js';
import { type ExitStatus, PROGRAM, type Terminal } from '../terminal.js';
import { loadFixtures } from './load-fixtures.js';
import { refuseSpeed } from './recordings.js';

/** The flags as commander gives them. */
export interface MockToolFlags {
  readonly mcp?: McpTransport;
  /** Options that were set on the command line, defaults excluded. */
  readonly given?: readonly string[];
  readonly handlers?: string;
  readonly seed?: string;
  /** Of transcripts. */
  readonly speed?: number;
  /** File to write the transcripts to as fixtures; - is stdout. */
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
  readonly output?: ServerOutput;
  readonly quiet?: true;
  readonly color: boolean;
}

export interface MockToolPlan {
  /** Fixture files and folders; none serves the demo. */
  readonly files: readonly string[];
  /** The command to run against the mock; null serves until it is stopped. */
  readonly command: readonly string[] | null;
  readonly output: ServerOutput;
  /** Null for RAP. */
  readonly mcp: McpTransport | null;
  readonly isVerified: boolean;
  readonly reports: readonly ReportRequest[];
  readonly flags: MockToolFlags;
  readonly tool: Omit<MockToolOptions, 'fixtures' | 'handlers' | 'middleware'>;
}

const EXAMPLE = 'protocol-cli mock-tool fixtures.yaml -- npm test';

/** @throws ProtocolCliError `usage`. */
export function readPlan(words: readonly string[], flags: MockToolFlags, terminal: Terminal): MockToolPlan {
  const { files, command } = splitCommand(words, terminal, EXAMPLE);
  checkExportFlags(files, flags, command !== null);
  checkFlags(files, flags);
  checkMcpFlags(flags, command !== null);
  const { output: asked, mcp = null, report: reports = [], verify } = flags;
  const ndjsonHint = 'Ask GET /__mock__/journal with Accept: application/x-ndjson instead.';
  const output = chooseServerOutput(
    { output: asked, command, prefersScreen: mcp === null, ndjsonHint },
    terminal,
  );
  checkReports(reports, command !== null || output === 'ndjson' || mcp === 'stdio');
  const isVerified = verify === true || command !== null;
  return { files, command, output, mcp, isVerified, reports, flags, tool: toolOptions(flags) };
}

/** Options that `--export` understands; it writes a file and serves nothing. */
const OF_EXPORTS = ['export', 'speed', 'color', 'quiet'];

/** @throws ProtocolCliError `usage`. */
function checkExportFlags(
  files: readonly string[],
  { export: target, given = [] }: Pick<MockToolFlags, 'export' | 'given'>,
  hasCommand: boolean,
): void {
  if (target === undefined) return;
  if (hasCommand)
    throw usage('--export starts no server for a command', 'Export first, then serve the exported file.');
  const others = given.filter(option => !OF_EXPORTS.includes(option)).map(flagOf);
  if (others.length > 0)
    throw usage(`--export starts no server; these options need one: ${others.join(', ')}`, 'Leave them out.');
  if (files.length === 0)
    throw usage(
      '--export needs a transcript',
      'For example: protocol-cli mock-tool run.ndjson --export fixtures.yaml',
    );
}

/** Options that exclude each other. */
function checkFlags(
  files: readonly string[],
  { watch, demo, fsync, journal, keep, handlers }: MockToolFlags,
) {
  if (watch && files.length === 0) throw usage('--watch needs fixture files to watch');
  if (demo && (files.length > 0 || handlers !== undefined))
    throw usage('--demo cannot be combined with fixtures or --handlers', 'Leave out --demo or the others.');
  if (fsync && journal === undefined) throw usage('--fsync needs a journal', 'Add --journal <file>.');
  if (keep === 0) throw usage('--keep must be at least 1');
}

function usage(message: string, hint?: string): ProtocolCliError {
  return new ProtocolCliError('usage', message, hint === undefined ? {} : { hint });
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

/** Fixtures and handlers, and warnings from reading them. */
export interface Sources extends Pick<MockToolOptions, 'fixtures' | 'handlers' | 'middleware'> {
  readonly warnings?: readonly string[];
}

/** Reads fixtures, handlers, or both; the demo without either. @throws ProtocolCliError as reading them does. */
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

/** @param url base URL of the mock */
export function startWarnings(
  { host, allowHost = [] }: Pick<MockToolFlags, 'host' | 'allowHost'>,
  url: string,
  fixtures: FixtureSet | undefined,
): string[] {
  const open = networkWarnings({ host });
  if (!fixtures) return open;
  const hosts = [new URL(url).host, ...allowHost];
  return [...open, ...consentWarnings(hosts, fixtures), ...fixtureWarnings(fixtures)];
}

/** Warns of fixtures that never match; they may be intended, so they are not errors. */
export function fixtureWarnings({ fixtures }: Pick<FixtureSet, 'fixtures'>): string[] {
  return overshadowed(fixtures).map(({ fixture: { id, place }, by }) => {
    const where = id === place ? '' : ` (${place})`;
    return visibleLine(
      `fixture ${id} never matches: ${by.id} comes before it and matches the same calls${where}`,
    );
  });
}

/** The consent page has no https, so its `auth_url` is valid on loopback only (TOOL-OAUTH). */
function consentWarnings(hosts: readonly string[], fixtures: FixtureSet): string[] {
  const [remote] = hosts.filter(host => !isLoopback(parseHost(host)?.name ?? ''));
  if (remote === undefined || !usesConsentPage(fixtures)) return [];
  return [
    `runtimes that call the mock as ${visibleLine(remote)} must refuse the auth_url of its consent page, which is http: and not on loopback (TOOL-OAUTH); give the oauth step an https auth_url`,
  ];
}

/** Shows the events while the mock runs. */
export interface LiveOutput {
  /** Shows a message about the mock itself, such as fixtures that were reloaded. */
  notice(text: string, isBad?: boolean): void;
  warn(texts: readonly string[]): void;
  /** Resolves when the user quits; never without a screen. */
  readonly quit: Promise<void>;
  /** Takes what the reload key of the screen calls. */
  onReload(reload: () => void): void;
  close(): Promise<void>;
}

type Events = Pick<MockTool, 'events' | 'subscribe'>;

export async function startOutput(
  tool: MockTool,
  plan: MockToolPlan,
  terminal: Terminal,
): Promise<LiveOutput> {
  const { port, url, seed, toolset } = tool;
  const isScreen = plan.output === 'ui';
  if (!isScreen)
    printReady({ port, url, seed }, `mock-tool ${toolset.name} at ${url} (seed ${seed})`, terminal, plan);
  const output = isScreen ? await startScreen(tool, plan, terminal) : await startLines(tool, plan, terminal);
  if (tool.resumed > 0) output.notice(`calls resumed from the journal: ${tool.resumed}`);
  return output;
}

/** Prints lines for people, or every event as JSON. */
export async function startLines(tool: Events, plan: MockToolPlan, terminal: Terminal): Promise<LiveOutput> {
  const stop = await printEvents(tool, plan, terminal);
  const notice = (text: string, isBad = false) =>
    void terminal.stderr.write(`${isBad ? 'warning: ' : ''}${visible(text)}\n`);
  return {
    notice,
    warn: texts => {
      for (const text of texts) notice(text, true);
    },
    quit: new Promise<never>(() => {}),
    onReload: () => {},
    close: async () => stop(),
  };
}

async function printEvents(tool: Events, { output, flags, command }: MockToolPlan, terminal: Terminal) {
  const subscribe = subscribeToAll(tool);
  if (output === 'ndjson') {
    const redactor = callbackSecrets();
    const about = { startedAt: new Date().toISOString(), observer: 'tool', program: PROGRAM } as const;
    const learning: Subscribe = listener =>
      subscribe(event => {
        redactor.learn(event);
        listener(unread(event));
      });
    const end = streamTranscript(learning, terminal.stdout, redactor, about);
    return () => end('done');
  }
  if (flags.quiet) return () => {};
  const { mockPlain } = await import('../../render/outputs/mock-plain.js');
  const stream = streamForPeople(terminal, command);
  return subscribe(mockPlain(stream, { level: colourOf(stream, flags, terminal) }));
}

async function startScreen(tool: MockTool, { flags }: MockToolPlan, terminal: Terminal): Promise<LiveOutput> {
  const { mockScreen } = await import('../../tui/mock/screen.js');
  const { stdin, stdout, stderr } = terminal;
  let onQuit = () => {};
  let reload = () => {};
  const quit = new Promise<void>(resolve => {
    onQuit = resolve;
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
    subscribe: subscribeToAll(tool),
    controls: {
      pause: () => tool.pause(),
      resume: () => tool.resume(),
      redeliver: key => tool.redeliver(key),
      fire: (id, groupId) => tool.fire(id, groupId),
      reload: () => reload(),
      quit: onQuit,
    },
    supports: new Set(DRAWABLE),
    stdin,
    stdout,
    clock: systemClock,
    level: colourOf(stdout, flags, terminal),
  });
  return {
    quit,
    notice: view.notice,
    warn: texts => {
      if (texts.length > 0) view.notice(texts.join('\n'), true);
    },
    onReload: asked => {
      reload = asked;
    },
    async close() {
      await view.close();
      stderr.write(`${view.summary()}\n`); // the screen and its list are gone
    },
  };
}

/** A mock that is up, whichever protocol it speaks. */
export interface RunningMock {
  readonly tool: Pick<MockTool, 'verify'> & { replaceFixtures(fixtures: FixtureSet): Promise<void> };
  /** Environment of the command after `--`. */
  readonly env: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
  /** Resolves when the only client has gone, as on stdio; else never. */
  readonly over: Promise<void>;
  /** Prints where the mock is, and then what happens. */
  startOutput(): Promise<LiveOutput>;
  close(): Promise<void>;
  /** After the mock is closed: not 0 if the mock itself failed. */
  status(): ExitStatus;
}
