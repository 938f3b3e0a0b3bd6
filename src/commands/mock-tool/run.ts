import { Writable } from 'node:stream';
import { unread } from '../../events/bounded-events.js';
import type { EventStore } from '../../events/log.js';
import { callbackRedactor } from '../../events/shareable.js';
import type { FixtureSet } from '../../fixtures/fixture-set.js';
import { stepsOf } from '../../fixtures/reply-schema.js';
import { isLoopback } from '../../http/addresses.js';
import { MockTool, type MockToolOptions } from '../../mock/mock-tool.js';
import type { Rate } from '../../mock/responder.js';
import { fixtureFiles, loadHandlers } from '../../mock/sources.js';
import { pluralize } from '../../render/line.js';
import { serverPlain } from '../../render/outputs/server-plain.js';
import { verifiedMock } from '../../render/outputs/verification.js';
import { backgroundOf } from '../../render/terminal/background.js';
import { systemClock } from '../../system/clock.js';
import { watchFiles } from '../../system/watch-files.js';
import { messageOf, ProtocolCliError } from '../../util/errors.js';
import { readUrl } from '../../util/url.js';
import { visibleLine } from '../../util/visible.js';
import { type LiveOutput, type Subscribe, startLines, startScreen, subscribeToAll } from '../live-output.js';
import { DRAWABLE, type ServerFlags, type ServerOutput, usageError } from '../options.js';
import { checkReports, type ReportRequest, reporterText, writeVerification } from '../reports.js';
import type { Run } from '../run.js';
import { networkWarnings, printReady, runServer } from '../run-server.js';
import { headerFor, openTranscript } from '../save-transcript.js';
import { readServerLine } from '../server-line.js';
import { demoFixtures } from '../target.js';
import { colourOf, PROGRAM, type Terminal } from '../terminal.js';
import { exportFixtures, loadFixtures } from './fixtures.js';

interface MockToolFlags extends ServerFlags {
  readonly mcp?: 'stdio' | 'http';
  /** Options set on the command line: `--save`. */
  readonly given?: readonly string[];
  readonly handlers?: string;
  readonly seed?: string;
  readonly speed?: number;
  /** File for `--export`; - is stdout. */
  readonly export?: string;
  readonly demo?: true;
  readonly watch?: true;
  readonly allowRepeats?: true;
  readonly rateLimit?: Rate;
  readonly allowOrigin?: readonly string[];
  readonly allowCallback?: readonly string[];
  readonly maxBody: number;
  readonly retries: number;
  readonly maxPending: number;
  readonly drain: number;
  readonly keep: number;
  readonly save?: string;
  readonly verify?: true;
  readonly reporter?: readonly ReportRequest[];
  /** The old name of `--reporter`. */
  readonly report?: readonly ReportRequest[];
  readonly output?: ServerOutput;
}

const EXAMPLE = 'protocol-cli mock-tool fixtures.yaml -- npm test';

export async function runMockTool(
  words: readonly string[],
  flags: MockToolFlags,
  terminal: Terminal,
): Promise<number> {
  const { output: asked, mcp, speed } = flags;
  if (mcp && asked === 'ui') throw usageError('-o ui does not show MCP', 'Use -o plain.');
  const ndjsonHint = 'Ask GET /__mock__/journal with Accept: application/x-ndjson instead.';
  const request = { output: asked, prefersScreen: mcp === undefined, ndjsonHint, example: EXAMPLE };
  const { files: paths, command, output } = readServerLine(words, request, terminal);
  refuseContradictions(paths, flags, command !== null);
  const reporter = reportersOf(flags, terminal);
  const stdoutUser =
    (command && 'the command') ??
    (mcp === 'stdio' ? '--mcp stdio' : output === 'ndjson' ? '-o ndjson' : null);
  await checkReports(reporter, stdoutUser);
  const files = await fixtureFiles(paths);
  if (flags.export !== undefined) return exportFixtures(files, flags.export, speed, terminal);
  const sources = await sourcesOf(files, flags, terminal);
  return runServer({ terminal, command, observer: 'tool' }, async (run, onClose) => {
    const store = await storeOf(flags.save, run);
    const reloader = new FixtureReloader(paths, speed);
    onClose(() => reloader.close());
    if (flags.watch) await reloader.watch();
    const context = { output, flags, command, reload: () => reloader.reload(), onClose };
    const served = { ...sources, ...(store && { store }) };
    const mock = await (mcp ? serveMcp(mcp, served, context, terminal) : serveRap(served, context, terminal));
    mock.output.warn(mock.warnings);
    reloader.attach(mock.tool, mock.output);
    return {
      env: mock.env,
      quit: mock.quit,
      verify: async result => {
        const isVerified = flags.verify === true || command !== null || reporter.length > 0;
        if (!isVerified) return 0;
        const request = { reporter, stdoutUser, flags };
        return writeVerification(verifiedMock(mock.tool.verify(), result), request, terminal);
      },
    };
  });
}

/** The reports, also those with the old name of the option, which works for one release. */
function reportersOf(
  { reporter = [], report = [] }: MockToolFlags,
  { stderr }: Terminal,
): readonly ReportRequest[] {
  const [first] = report;
  if (first)
    stderr.write(
      `warning: --report is now --reporter, and will be removed: --reporter ${visibleLine(reporterText(first))}\n`,
    );
  return [...reporter, ...report];
}

/** Options that can be combined with `--export`, which writes a file and serves nothing. */
const OF_EXPORTS = ['--export', '--speed', '--no-color', '--quiet'];

/** Options about callbacks, which MCP does not have. */
const OF_CALLBACKS = ['--allow-callback', '--retries', '--max-pending', '--allow-repeats'];

const OF_HTTP = ['--host', '--port', '--allow-host', '--allow-origin'];

/** @throws ProtocolCliError `usage` for options that exclude each other. */
function refuseContradictions(files: readonly string[], flags: MockToolFlags, hasCommand: boolean): void {
  const { export: target, watch, demo, keep, handlers, mcp, given = [] } = flags;
  const among = (options: readonly string[]) => options.filter(option => given.includes(option)).join(', ');
  const isExport = target !== undefined;
  const ofServers = given.filter(option => !OF_EXPORTS.includes(option)).join(', ');
  const [ofCallbacks, ofHttp] = [among(OF_CALLBACKS), among(OF_HTTP)];
  const exportExample = 'For example: protocol-cli mock-tool run.ndjson --export fixtures.yaml';
  const isStdio = mcp === 'stdio';
  const rules: readonly (readonly [isBroken: unknown, message: string, hint?: string])[] = [
    [isExport && hasCommand, '--export starts no server for a command', 'Export first, then serve the file.'],
    [
      isExport && ofServers,
      `--export starts no server; these options need one: ${ofServers}`,
      'Leave them out.',
    ],
    [isExport && files.length === 0, '--export needs a transcript', exportExample],
    [watch && files.length === 0, '--watch needs fixture files to watch'],
    [
      demo && (files.length > 0 || handlers !== undefined),
      '--demo cannot be combined with fixtures or --handlers',
      'Leave out --demo or the others.',
    ],
    [keep === 0, '--keep must be at least 1'],
    [
      mcp === undefined && given.includes('--allow-origin'),
      '--allow-origin is for --mcp http',
      'Web pages cannot call a RAP tool.',
    ],
    [
      mcp && ofCallbacks,
      `these options are for callbacks, which MCP does not have: ${ofCallbacks}`,
      'Leave them out, or --mcp.',
    ],
    [
      isStdio && ofHttp,
      `these options are for a network server, which --mcp stdio is not: ${ofHttp}`,
      'Leave them out, or --mcp.',
    ],
    [
      isStdio && hasCommand,
      '--mcp stdio and the command would both use stdin and stdout',
      'With --mcp http the command finds the address in MCP_URL.',
    ],
  ];
  const [, message, hint] = rules.find(([isBroken]) => isBroken) ?? [];
  if (message !== undefined) throw usageError(message, hint);
}

/** The transcript file of `--save`. @throws ProtocolCliError `unwritable-file`, `usage`. */
async function storeOf(path: string | undefined, run: Run): Promise<EventStore | null> {
  if (path === undefined) return null;
  const file = await openTranscript(path, callbackRedactor(), run.about, { onForcedEnd: run.stderr.write });
  run.onTranscriptEnd(file.close);
  return file;
}

interface Sources extends Pick<MockToolOptions, 'fixtures' | 'handlers' | 'middleware' | 'store'> {
  readonly warnings?: readonly string[];
}

/** Reads fixtures, handlers, or both; uses the demo without either. @throws ProtocolCliError if reading fails. */
async function sourcesOf(
  files: readonly string[],
  { handlers: path, speed }: MockToolFlags,
  { cwd, announceUserCode }: Terminal,
): Promise<Sources> {
  if (path !== undefined) announceUserCode();
  const handlers = path === undefined ? {} : await loadHandlers(path, cwd);
  if (files.length > 0 || speed !== undefined) return { ...handlers, ...(await loadFixtures(files, speed)) };
  return path === undefined ? { fixtures: await demoFixtures() } : handlers;
}

function toolOptions(flags: MockToolFlags): MockToolOptions {
  const { host, port, maxBody, retries, maxPending, keep, drain: drainMs } = flags;
  const { seed, rateLimit } = flags;
  return {
    host,
    port,
    maxBody,
    retries,
    maxPending,
    keep,
    drainMs,
    allowHosts: flags.allowHost ?? [],
    allowCallbacks: flags.allowCallback ?? [],
    allowRepeats: flags.allowRepeats === true,
    program: PROGRAM,
    ...(seed !== undefined && { seed }),
    ...(rateLimit && { rateLimit }),
  };
}

interface MockContext {
  readonly output: ServerOutput;
  readonly flags: MockToolFlags;
  readonly command: readonly string[] | null;
  /** Called by a key of the screen. */
  readonly reload: () => void;
  readonly onClose: (close: () => Promise<void>) => void;
}

interface RunningMock {
  readonly tool: Reloadable;
  /** Environment of the command after `--`. */
  readonly env: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
  readonly output: LiveOutput;
  /** Resolves when the user quits, or when the only client disconnects, as on stdio. */
  readonly quit: Promise<void>;
}

/** @throws ProtocolCliError as {@link MockTool.start}. */
async function serveRap(
  { warnings = [], ...sources }: Sources,
  context: MockContext,
  terminal: Terminal,
): Promise<RunningMock> {
  const { flags, command, onClose } = context;
  const tool = await MockTool.start({ ...toolOptions(flags), ...sources });
  onClose(() => tool.close());
  const { port, url, seed, toolset } = tool;
  const isScreen = context.output === 'ui';
  if (!isScreen)
    printReady({ port, url, seed }, `mock-tool ${toolset.name} at ${url} (seed ${seed})`, terminal, {
      command,
    });
  const output = await (isScreen ? screenOutput : lineOutput)(tool, context, terminal);
  onClose(() => output.close());
  return {
    tool,
    output,
    env: { TOOL_URL: url },
    quit: output.quit,
    warnings: [...warnings, ...startWarnings(flags, url, sources.fixtures)],
  };
}

/**
 * Serves MCP. On stdio, stdout carries the protocol, so what handlers and libraries write to stdout goes to stderr.
 * @throws ProtocolCliError `invalid-toolset`, `port-in-use`, `usage`.
 */
async function serveMcp(
  transport: 'stdio' | 'http',
  { warnings = [], ...sources }: Sources,
  context: MockContext,
  terminal: Terminal,
): Promise<RunningMock> {
  const { flags, command, onClose } = context;
  const { leftOut, serveMcpHttp, serveMcpStdio } = await import('../../mock/mcp/mcp-tool.js');
  const options = { ...toolOptions(flags), ...sources, allowOrigins: flags.allowOrigin ?? [] };
  const { stdin, stdout, stderr } = terminal;
  const taken = transport === 'stdio' ? takeStream(stdout, stderr) : null;
  const mcp = await (taken ? serveMcpStdio(options, { stdin, stdout: taken.stream }) : serveMcpHttp(options));
  onClose(() => mcp.close().finally(taken?.release));
  const { address, over } = mcp;
  const { mock } = mcp.tool;
  const where = address ? { port: address.port, url: address.base, mcp: address.url } : { mcp: 'stdio' };
  const text = `mock-tool ${mock.toolset.name}, MCP at ${where.mcp} (seed ${mock.seed})`;
  const own = taken ? { ...terminal, stdout: stderr } : terminal;
  printReady({ ...where, seed: mock.seed }, text, own, { command });
  const output = lineOutput(mock, context, own);
  onClose(() => output.close());
  const { fixtures } = sources;
  return {
    tool: { verify: () => mock.verify(), replaceFixtures: set => mcp.replaceFixtures(set) },
    env: address ? { MCP_URL: address.url } : {},
    warnings: [...warnings, ...networkWarnings(flags), ...(fixtures ? leftOut(fixtures) : [])],
    output,
    quit: Promise.race([output.quit, over]),
  };
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
  return [...open, ...consentWarnings(hosts, fixtures)];
}

/** The consent page uses http, so its `auth_url` is valid on loopback only (TOOL-OAUTH). */
function consentWarnings(hosts: readonly string[], fixtures: FixtureSet): string[] {
  const [remote] = hosts.filter(host => !isLoopback(readUrl(`http://${host}`)?.hostname ?? ''));
  const isOwnPage = fixtures.fixtures.some(fixture =>
    stepsOf(fixture).some(step => step.kind === 'oauth' && step.oauth.auth_url === undefined),
  );
  if (remote === undefined || !isOwnPage) return [];
  return [
    `runtimes that call the mock as ${visibleLine(remote)} must refuse the auth_url of its consent page, which is http: and not on loopback (TOOL-OAUTH); give the oauth step an https auth_url`,
  ];
}

function lineOutput(
  tool: Pick<MockTool, 'events' | 'subscribe'>,
  { output, flags, command }: MockContext,
  terminal: Terminal,
): LiveOutput {
  const redactor = callbackRedactor();
  const subscribe = subscribeToAll(tool);
  const learning: Subscribe = listener =>
    subscribe(event => {
      redactor.learn(event);
      listener(unread(event));
    });
  return startLines(
    {
      output,
      flags,
      command,
      redactor,
      about: headerFor('tool'),
      subscribe: output === 'ndjson' ? learning : subscribe,
      printer: (stream, level) => serverPlain('tool', stream, { level }),
    },
    terminal,
  );
}

async function screenOutput(
  tool: MockTool,
  { flags, reload }: MockContext,
  terminal: Terminal,
): Promise<LiveOutput> {
  const { mockScreen } = await import('../../tui/mock/screen.js');
  const { stdin, stdout } = terminal;
  const shown = {
    url: tool.url,
    seed: tool.seed,
    get name() {
      return tool.toolset.name;
    },
    get fixtures() {
      return tool.verify().fixtures.length;
    },
  };
  const controls = {
    pause: () => tool.pause(),
    resume: () => tool.resume(),
    redeliver: (key: string) => tool.redeliver(key),
    fire: (id: string, groupId: string) => tool.fire(id, groupId),
    reload,
  };
  const subscribe = subscribeToAll(tool);
  const level = colourOf(stdout, flags, terminal);
  const background = backgroundOf(terminal.env);
  const supports = new Set(DRAWABLE);
  const screen = { stdin, stdout, clock: systemClock, level, background, subscribe, supports };
  return startScreen(
    quit => mockScreen({ ...screen, tool: shown, controls: { ...controls, quit } }),
    terminal,
  );
}

/** Reserves a stream for one use: all other writes to it, such as `console.log` in user code, go to `instead`. */
function takeStream(taken: NodeJS.WritableStream, instead: NodeJS.WritableStream) {
  const own = Object.getOwnPropertyDescriptor(taken, 'write');
  const write = taken.write.bind(taken);
  Object.defineProperty(taken, 'write', {
    configurable: true,
    writable: true,
    value: instead.write.bind(instead),
  });
  return {
    stream: new Writable({ write: (chunk: Uint8Array, _, done) => void write(chunk, done) }),
    release() {
      if (own) Object.defineProperty(taken, 'write', own);
      else Reflect.deleteProperty(taken, 'write');
    },
  };
}

interface Reloadable extends Pick<MockTool, 'verify'> {
  replaceFixtures(fixtures: FixtureSet): Promise<void>;
}

/** Reloads the fixtures when a file changes or on request; one reload at a time, so that the last one wins. */
export class FixtureReloader {
  #reading = Promise.resolve();
  #watcher: { close(): void } | null = null;
  #isChanged = false;
  #reload: (() => Promise<void>) | null = null;

  /**
   * @param paths files and folders from the command line
   * @param speed of transcripts
   */
  constructor(
    private readonly paths: readonly string[],
    private readonly speed: number | undefined,
  ) {}

  /** Must start before the mock, so that no edit is missed. */
  async watch(): Promise<void> {
    const onChange = () => {
      this.#isChanged = true;
      this.reload();
    };
    this.#watcher = await watchFiles(() => fixtureFiles(this.paths), onChange);
  }

  /** Applies changes from now on, and those that happened before. */
  attach(tool: Reloadable, output: Pick<LiveOutput, 'notice' | 'warn'>): void {
    this.#reload = () => this.#readAgain(tool, output);
    if (this.#isChanged) this.reload();
  }

  reload(): void {
    if (this.#reload) this.#reading = this.#reading.then(this.#reload);
  }

  async close(): Promise<void> {
    this.#watcher?.close();
    await this.#reading;
  }

  async #readAgain(tool: Reloadable, output: Pick<LiveOutput, 'notice' | 'warn'>): Promise<void> {
    if (this.paths.length === 0) return output.notice('no fixture files to reload');
    try {
      const { length: before } = tool.verify().fixtures;
      const { fixtures, warnings } = await loadFixtures(await fixtureFiles(this.paths), this.speed);
      await tool.replaceFixtures(fixtures);
      const { length: count } = fixtures.fixtures;
      const was = count === before ? '' : ` (was ${before})`;
      output.notice(`reloaded ${pluralize(count, 'fixture')}${was}`);
      output.warn(warnings);
    } catch (error) {
      output.notice(`reload failed; keeping the previous fixtures: ${reasonOf(error)}`, true);
    }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ProtocolCliError) return [error.message, ...error.faults].join('\n  ');
  return messageOf(error);
}
