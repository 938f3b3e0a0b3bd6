import { unread } from '../../events/bounded-events.js';
import type { EventStore } from '../../events/log.js';
import { callbackRedactor } from '../../events/shareable.js';
import type { FixtureSet } from '../../fixtures/fixture-set.js';
import { stepsOf } from '../../fixtures/reply-schema.js';
import { isLoopback } from '../../http/addresses.js';
import { MockTool, type MockToolOptions } from '../../mock/mock-tool.js';
import { fixtureFiles, loadHandlers } from '../../mock/sources.js';
import { serverPlain } from '../../render/outputs/server-plain.js';
import { verifiedMock } from '../../render/outputs/verification.js';
import { backgroundOf } from '../../render/terminal/background.js';
import { systemClock } from '../../system/clock.js';
import { reserveStream } from '../../system/reserve-stream.js';
import { readUrl } from '../../util/url.js';
import { visibleLine } from '../../util/visible.js';
import { type LiveOutput, type Subscribe, startLines, startScreen, subscribeToAll } from '../live-output.js';
import { DRAWABLE, type ServerOutput, usageError } from '../options.js';
import { type ReportRequest, reporterText } from '../reporter-option.js';
import { checkReports, writeVerification } from '../reports.js';
import type { Run } from '../run.js';
import { networkWarnings, printReady, runServer } from '../run-server.js';
import { headerFor, openTranscript } from '../save-transcript.js';
import { readServerLine } from '../server-line.js';
import { demoFixtures } from '../target.js';
import { colourOf, PROGRAM, type Terminal } from '../terminal.js';
import { refuseContradictions } from './contradictions.js';
import { FixtureReloader, type Reloadable } from './fixture-reloader.js';
import { exportFixtures, loadFixtures, PATH_HINT } from './fixtures.js';
import type { MockToolFlags } from './flags.js';

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
  const stdoutUser = stdoutUserOf(mcp, output, command !== null);
  await checkReports(reporter, stdoutUser);
  const files = await fixtureFiles(paths, PATH_HINT);
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

/** What else writes to stdout, so that no report can; null if nothing does. */
function stdoutUserOf(mcp: MockToolFlags['mcp'], output: ServerOutput, hasCommand: boolean): string | null {
  if (hasCommand) return 'the command';
  if (mcp === 'stdio') return '--mcp stdio';
  if (output === 'ndjson') return '-o ndjson';
  return null;
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
  const taken = transport === 'stdio' ? reserveStream(stdout, stderr) : null;
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
      isHeld: command !== null && flags.output === undefined,
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
