import { randomBytes } from 'node:crypto';
import { createLog } from '../../events/log.js';
import type { TranscriptAbout } from '../../events/transcript-writer.js';
import type { SessionScript } from '../../fixtures/session-script.js';
import { warningText } from '../../render/outputs/trouble.js';
import { humanSessionVerification } from '../../render/outputs/verification.js';
import { SessionPlatform } from '../../session/platform/platform.js';
import { systemClock } from '../../system/drafts.js';
import { writeOut } from '../../system/streams.js';
import { keepHeapTight } from '../../system/watch-files.js';
import { ProtocolCliError } from '../../util/errors.js';
import { decodeUtf8 } from '../../util/json.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import type { ServerOutput } from '../options.js';
import { colourOf, streamForPeople, streamTranscript, subscribeToAll } from '../output.js';
import { readSource } from '../read-source.js';
import {
  chooseServerOutput,
  commandFailure,
  networkWarnings,
  printReady,
  runServer,
  splitCommand,
} from '../run-server.js';
import { saveTranscript } from '../save-files.js';
import { PROGRAM, type Terminal } from '../terminal.js';

/** The flags as commander gives them. */
export interface SessionMockFlags {
  readonly host: string;
  readonly port: number;
  readonly allowHost?: readonly string[];
  readonly key?: string;
  readonly verify?: true;
  readonly output?: ServerOutput;
  readonly save?: string;
  readonly quiet?: true;
  readonly color: boolean;
}

interface SessionMockPlan {
  /** Null plays the default script. */
  readonly file: string | null;
  /** The command to run against the platform; null serves until it is stopped. */
  readonly command: readonly string[] | null;
  readonly key: string;
  /** The key if it is random and the user needs to see it. */
  readonly shownKey: string | null;
  readonly output: ServerOutput;
  readonly isVerified: boolean;
  readonly flags: SessionMockFlags;
}

const EXAMPLE = 'protocol-cli session mock order.yaml -- npm test';

/** @throws ProtocolCliError `usage`. */
export function readPlan(
  words: readonly string[],
  flags: SessionMockFlags,
  terminal: Terminal,
): SessionMockPlan {
  const { files, command } = splitCommand(words, terminal, EXAMPLE);
  const [file = null, second] = files;
  if (second !== undefined) throw usage(`unexpected second script: ${second}`, `For example: ${EXAMPLE}`);
  const { verify, quiet, output } = flags;
  const givenKey = readKey(flags, terminal.env);
  const key = givenKey ?? randomBytes(24).toString('base64url');
  const isHandedOver = command !== null && quiet === true; // the command has it in its environment
  return {
    file,
    command,
    key,
    shownKey: givenKey !== null || isHandedOver ? null : key,
    output: chooseServerOutput(
      { output, command, prefersScreen: !quiet, ndjsonHint: 'Use --save <file> instead.' },
      terminal,
    ),
    isVerified: verify === true || command !== null,
    flags,
  };
}

/** Other users of the machine can see a command line, so `env:NAME` names a variable instead. */
function readKey({ key }: SessionMockFlags, env: Terminal['env']): string | null {
  if (key === undefined) return env['API_KEY'] || null;
  if (!key.startsWith('env:')) return key;
  const name = key.slice('env:'.length);
  const value = env[name];
  if (!value) throw usage(`--key: the environment variable ${name} is not set`);
  return value;
}

function usage(message: string, hint?: string): ProtocolCliError {
  return new ProtocolCliError('usage', message, hint === undefined ? {} : { hint });
}

const MAX_SCRIPT_BYTES = 16 * 1024 * 1024;

/**
 * Reads the script from a file, or from stdin for `-`.
 * @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`.
 */
async function readScript(file: string | null, { stdin }: Pick<Terminal, 'stdin'>): Promise<SessionScript> {
  if (file === null) return (await import('../../fixtures/session-script.js')).defaultSessionScript();
  const text = decodeUtf8(await readSource(file, stdin, MAX_SCRIPT_BYTES));
  if (text === null)
    throw new ProtocolCliError('unreadable-file', `cannot read ${file}: it is not UTF-8`, {
      hint: 'A session script is YAML or JSON.',
    });
  const { readSessionScript } = await import('../../fixtures/session-script.js');
  return readSessionScript({ path: file, text });
}

/** What shows the events while the platform runs. */
interface LiveOutput {
  readonly quit: Promise<void>;
  close(): Promise<void>;
}

const NO_OUTPUT: LiveOutput = { quit: new Promise<never>(() => {}), close: async () => {} };

async function startOutput(
  platform: SessionPlatform,
  plan: SessionMockPlan,
  terminal: Terminal,
  redactor: Redactor,
  about: TranscriptAbout,
): Promise<LiveOutput> {
  const { output, command, flags } = plan;
  if (output === 'ui') return startScreen(platform, plan, terminal);
  printPlatform(platform, plan, terminal);
  const subscribe = subscribeToAll(platform);
  if (output === 'ndjson') {
    const end = streamTranscript(subscribe, terminal.stdout, redactor, about);
    return { ...NO_OUTPUT, close: async () => end('done') };
  }
  if (flags.quiet) return NO_OUTPUT;
  const { sessionPlain } = await import('../../render/outputs/session-plain.js');
  const stream = streamForPeople(terminal, command);
  subscribe(sessionPlain(stream, { level: colourOf(stream, flags, terminal), redactor }));
  return NO_OUTPUT;
}

async function startScreen(
  platform: SessionPlatform,
  { shownKey, flags }: SessionMockPlan,
  terminal: Terminal,
): Promise<LiveOutput> {
  const { platformScreen } = await import('../../tui/session/platform.js');
  const { stdin, stdout, stderr } = terminal;
  let onQuit = () => {};
  const quit = new Promise<void>(resolve => {
    onQuit = resolve;
  });
  const view = platformScreen({
    platform: { url: platform.url, session: platform.session, key: shownKey },
    subscribe: subscribeToAll(platform),
    stdin,
    stdout,
    clock: systemClock,
    level: colourOf(stdout, flags, terminal),
    onQuit,
  });
  for (const warning of networkWarnings(flags)) view.notice(warning, true);
  const close = async () => {
    await view.close();
    stderr.write(`${view.summary()}\n`); // the screen and its list are gone
  };
  return { quit, close };
}

/** Programs get the key; people see it only if they did not choose it. */
function printPlatform(
  { port, url, session }: SessionPlatform,
  { command, flags, key, shownKey }: SessionMockPlan,
  terminal: Terminal,
): void {
  const text = `session mock at ${url}, session ${session}${shownKey === null ? '' : `, key ${shownKey}`}`;
  printReady({ port, url, key, session }, text, terminal, { command });
  for (const message of networkWarnings(flags)) terminal.stderr.write(warningText({ message }));
}

/** Runs `session mock`. Returns the exit status. */
export async function runSessionMock(
  words: readonly string[],
  flags: SessionMockFlags,
  terminal: Terminal,
): Promise<number> {
  const plan = readPlan(words, flags, terminal);
  const script = await readScript(plan.file, terminal);
  keepHeapTight();
  const log = createLog(() => systemClock.now());
  const redactor = createRedactor([plan.key]);
  const about: TranscriptAbout = {
    startedAt: systemClock.wall().toISOString(),
    observer: 'platform',
    program: PROGRAM,
  };
  const finish =
    flags.save === undefined ? null : await saveTranscript(log, flags.save, redactor, about, terminal);
  let reason = 'done';
  try {
    return await runServer(plan.command, async onClose => {
      const { host, port, allowHost: allowHosts = [] } = flags;
      const { key } = plan;
      const platform = await SessionPlatform.start({ host, port, allowHosts, script, log, key });
      onClose(() => platform.close());
      const output = await startOutput(platform, plan, terminal, redactor, about);
      onClose(() => output.close());
      return {
        env: { SESSION_URL: platform.url, SESSION_ID: platform.session, API_KEY: key },
        quit: output.quit,
        verify: async commandStatus => {
          if (!plan.isVerified) return 0;
          const report = platform.verify();
          await writeOut(terminal.stderr, redactor.text(humanSessionVerification(report)));
          terminal.stderr.write(commandFailure(commandStatus));
          return report.ok ? 0 : 1;
        },
      };
    });
  } catch (error) {
    reason = error instanceof ProtocolCliError ? error.code : 'failed';
    throw error;
  } finally {
    await finish?.(reason);
  }
}
