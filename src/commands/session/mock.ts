import { randomBytes } from 'node:crypto';
import { SessionPlatform } from '../../agent-session/platform/platform.js';
import type { SessionScript } from '../../fixtures/session-script-types.js';
import { serverPlain } from '../../render/outputs/server-plain.js';
import { verifiedSessions } from '../../render/outputs/verification.js';
import { backgroundOf } from '../../render/terminal/background.js';
import { systemClock } from '../../system/clock.js';
import { redactJson } from '../../util/redact-json.js';
import type { SessionVerificationReport } from '../../verification/report.js';
import { fromEnvironment } from '../headers.js';
import {
  type LinePrinter,
  type LiveOutput,
  startLines,
  startScreen,
  subscribeToAll,
} from '../live-output.js';
import { type ServerFlags, type ServerOutput, usageError } from '../options.js';
import { readText } from '../read-source.js';
import type { ReportRequest } from '../reporter-option.js';
import { checkReports, writeVerification } from '../reports.js';
import type { Run } from '../run.js';
import { networkWarnings, printReady, runServer } from '../run-server.js';
import { readServerLine, type ServerLine } from '../server-line.js';
import { colourOf, type Terminal } from '../terminal.js';

interface SessionMockFlags extends ServerFlags {
  readonly key?: string;
  readonly allowWebhook?: readonly string[];
  readonly verify?: true;
  readonly reporter?: readonly ReportRequest[];
  readonly output?: ServerOutput;
  readonly save?: string;
}

const EXAMPLE = 'protocol-cli session mock order.yaml -- npm test';

/** Runs `session mock`. Returns the exit status. */
export async function runSessionMock(
  words: readonly string[],
  flags: SessionMockFlags,
  terminal: Terminal,
): Promise<number> {
  const ndjsonHint = 'Use --save <file> instead.';
  const request = { output: flags.output, prefersScreen: !flags.quiet, ndjsonHint, example: EXAMPLE };
  const { files, command, output } = readServerLine(words, request, terminal);
  const [file = null, second] = files;
  if (second !== undefined)
    throw usageError(`unexpected second script: ${second}`, `For example: ${EXAMPLE}`);
  const { reporter = [] } = flags;
  const stdoutUser = command ? 'the command' : output === 'ndjson' ? '-o ndjson' : null;
  await checkReports(reporter, stdoutUser);
  const { env } = terminal;
  const given = flags.key === undefined ? env['API_KEY'] || null : fromEnvironment(flags.key, env, '--key');
  const key = given ?? randomBytes(24).toString('base64url');
  const script = await readScript(file, terminal);
  return runServer({ terminal, command, secrets: [key], observer: 'platform' }, async (run, onClose) => {
    await run.save(flags.save);
    const { host, port, allowHost: allowHosts = [], allowWebhook: allowWebhooks = [] } = flags;
    const { log, redactor } = run;
    const address = { host, port, allowHosts, allowWebhooks };
    const platform = await SessionPlatform.start({ ...address, script, log, key, onSecret: redactor.add });
    onClose(() => platform.close());
    const isShown = given === null && !(command && flags.quiet); // a command gets the key in its environment
    const live = await startOutput(platform, isShown ? key : null, { output, command }, flags, run);
    onClose(() => live.close());
    live.warn(networkWarnings(flags));
    return {
      env: { SESSION_URL: platform.url, SESSION_ID: platform.session, API_KEY: key },
      quit: live.quit,
      ...((flags.verify || command || reporter.length > 0) && {
        verify: async ended => {
          const json = redactJson(JSON.stringify(platform.verify()), run.redactor);
          const report: SessionVerificationReport = JSON.parse(json);
          return writeVerification(
            verifiedSessions(report, ended),
            { reporter, stdoutUser, flags },
            terminal,
          );
        },
      }),
    };
  });
}

/** @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`. */
async function readScript(path: string | null, { stdin }: Terminal): Promise<SessionScript> {
  const { defaultSessionScript, readSessionScript } = await import('../../fixtures/session-script.js');
  if (path === null) return defaultSessionScript();
  return readSessionScript({ path, text: await readText(path, stdin) });
}

/** Programs always get the key. @param shownKey the key if users did not choose it; null otherwise */
async function startOutput(
  platform: SessionPlatform,
  shownKey: string | null,
  { output, command }: Pick<ServerLine, 'output' | 'command'>,
  flags: SessionMockFlags,
  { terminal, redactor, about }: Run,
): Promise<LiveOutput> {
  const { port, url, key, session } = platform;
  const subscribe = subscribeToAll(platform);
  if (output === 'ui') {
    const { platformScreen } = await import('../../tui/session/platform.js');
    const { stdin, stdout } = terminal;
    const shown = { url, session, key: shownKey };
    const level = colourOf(stdout, flags, terminal);
    const background = backgroundOf(terminal.env);
    const screen = { platform: shown, subscribe, level, background, stdin, stdout, clock: systemClock };
    return startScreen(onQuit => platformScreen({ ...screen, onQuit }), terminal);
  }
  const text = `session mock at ${url}, session ${session}${shownKey === null ? '' : `, key ${shownKey}`}`;
  const keyWords = shownKey === null ? flags.key && '--key <key>' : `--key ${shownKey}`;
  const answer = ['protocol-cli session answer', url, session, keyWords, '--fixtures <file>'];
  const lines = command ? [text] : [text, `answer its calls: ${answer.filter(Boolean).join(' ')}`];
  printReady({ port, url, key, session }, lines.join('\n'), terminal, { command });
  const printer: LinePrinter = (stream, level) => serverPlain('platform', stream, { level, redactor });
  return startLines({ output, flags, command, subscribe, redactor, about, printer }, terminal);
}
