import { randomBytes } from 'node:crypto';
import { createLog } from '../../events/log.js';
import type { SessionScript } from '../../fixtures/session-script.js';
import { humanSessionVerification } from '../../render/outputs/verification.js';
import { SessionPlatform } from '../../session/platform/platform.js';
import { systemClock } from '../../system/clock.js';
import { keepHeapTight } from '../../system/process.js';
import { writeOut } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import { type ServerFlags, type ServerOutput, usage } from '../options.js';
import { colourOf } from '../output.js';
import { readText } from '../read-source.js';
import {
  chooseServerOutput,
  commandFailure,
  type LiveOutput,
  networkWarnings,
  printReady,
  runServer,
  splitCommand,
  startLines,
  startScreen,
  subscribeToAll,
} from '../run-server.js';
import { aboutNow, saveTranscript } from '../save-files.js';
import type { ExitStatus, Terminal } from '../terminal.js';

/** The flags as commander gives them. */
export interface SessionMockFlags extends ServerFlags {
  readonly key?: string;
  readonly verify?: true;
  readonly output?: ServerOutput;
  readonly save?: string;
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
  const ndjsonHint = 'Use --save <file> instead.';
  return {
    ...{ file, command, key, flags },
    shownKey: givenKey !== null || isHandedOver ? null : key,
    output: chooseServerOutput({ output, command, prefersScreen: !quiet, ndjsonHint }, terminal),
    isVerified: verify === true || command !== null,
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

/** @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`. */
async function readScript(file: string | null, { stdin }: Terminal): Promise<SessionScript> {
  const text = file === null ? '' : await readText(file, stdin);
  const { defaultSessionScript, readSessionScript } = await import('../../fixtures/session-script.js');
  return file === null ? defaultSessionScript() : readSessionScript({ path: file, text });
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
  const finish = await saveTranscript(log, flags.save, redactor, aboutNow('platform'), terminal);
  let reason = 'done';
  try {
    return await runServer(plan.command, async onClose => {
      const { host, port, allowHost: allowHosts = [] } = flags;
      const { key } = plan;
      const platform = await SessionPlatform.start({ host, port, allowHosts, script, log, key });
      onClose(() => platform.close());
      const output = await startOutput(platform, plan, terminal, redactor);
      onClose(() => output.close());
      output.warn(networkWarnings(flags));
      return {
        env: { SESSION_URL: platform.url, SESSION_ID: platform.session, API_KEY: key },
        quit: output.quit,
        verify: status => verify(platform, plan, status, terminal, redactor),
      };
    });
  } catch (error) {
    reason = error instanceof ProtocolCliError ? error.code : 'failed';
    throw error;
  } finally {
    await finish(reason);
  }
}

/** Programs get the key; people see it only if they did not choose it. */
async function startOutput(
  platform: SessionPlatform,
  { output, command, flags, key, shownKey }: SessionMockPlan,
  terminal: Terminal,
  redactor: Redactor,
): Promise<LiveOutput> {
  const { port, url, session } = platform;
  const subscribe = subscribeToAll(platform);
  if (output === 'ui') {
    const { platformScreen } = await import('../../tui/session/platform.js');
    const { stdin, stdout } = terminal;
    const level = colourOf(stdout, flags, terminal);
    const shown = { platform: { url, session, key: shownKey }, subscribe, level };
    return startScreen(
      onQuit => platformScreen({ ...shown, stdin, stdout, clock: systemClock, onQuit }),
      terminal,
    );
  }
  const text = `session mock at ${url}, session ${session}${shownKey === null ? '' : `, key ${shownKey}`}`;
  printReady({ port, url, key, session }, text, terminal, { command });
  return startLines(
    {
      ...{ output, flags, command, subscribe, redactor },
      about: aboutNow('platform'),
      printer: async (stream, level) =>
        (await import('../../render/outputs/server-plain.js')).sessionPlain(stream, { level, redactor }),
    },
    terminal,
  );
}

async function verify(
  platform: SessionPlatform,
  { isVerified }: SessionMockPlan,
  commandStatus: number,
  { stderr }: Terminal,
  redactor: Redactor,
): Promise<ExitStatus> {
  if (!isVerified) return 0;
  const report = platform.verify();
  await writeOut(stderr, redactor.text(humanSessionVerification(report)));
  stderr.write(commandFailure(commandStatus));
  return report.ok ? 0 : 1;
}
