import { writeFile } from 'node:fs/promises';
import { PassThrough, Writable } from 'node:stream';
import { Consent } from '../../../src/commands/consent.js';
import type { InvokeOptions } from '../../../src/commands/invoke/plan.js';
import { Run } from '../../../src/commands/run.js';
import type { Terminal } from '../../../src/commands/terminal.js';
import { createEngine } from '../../../src/commands/workbench/start.js';
import type { Event } from '../../../src/events/events.js';
import type { Exchange } from '../../../src/events/exchange.js';
import { transcriptWriter } from '../../../src/events/transcript-writer.js';
import { systemClock } from '../../../src/system/clock.js';
import type { Server } from '../../../src/tui/workbench/model.js';
import { createWorkbenchProgram } from '../../../src/tui/workbench/program.js';
import { secretsOfHeaders } from '../../../src/util/credentials.js';
import { eventually } from '../../e2e/support/eventually.js';
import { drawnWorkbench } from '../../tui/drawn.js';
import { press } from '../../tui/workbench/form/support/pressing.js';
import { withoutStyle } from '../../tui/workbench/support/open-session.js';

type Engine = ReturnType<typeof createEngine>;

export const OPTIONS: InvokeOptions = {
  validate: true,
  given: [],
  timeout: 10_000,
  retries: 2,
  callbackHost: '127.0.0.1',
  callbackPort: 0,
  maxBody: 64 * 1024 * 1024,
  supports: new Set(['diff', 'text']),
  color: true,
};

/** Writes events as a transcript, with their secrets. */
export async function writeTranscript(
  path: string,
  events: readonly Event[],
  about: Run['about'],
): Promise<void> {
  const writer = transcriptWriter({ add: () => {}, text: text => text });
  const lines = [writer.header(about), ...events.flatMap(event => writer.event(event)), writer.end('done')];
  await writeFile(path, lines.map(line => (typeof line === 'string' ? line : [...line].join(''))).join('\n'));
}

export interface StartedEngine extends Engine, AsyncDisposable, Pick<Run, 'log' | 'about'> {
  /** Opens the server that the headers belong to. Returns its id. */
  open(target: Parameters<Engine['open']>[0]): string;
  /** Opens the server at a URL, and waits for its toolset. Returns its id. */
  ready(url: string): Promise<string>;
  close(): Promise<void>;
  /** Returns the text written to the terminal. */
  output(): string;
  /** Resolves once the server is in this state. */
  stands<K extends Server['state']['kind']>(
    id: string,
    kind: K,
  ): Promise<Extract<Server['state'], { kind: K }>>;
  /** Calls an operation. Returns the key of the call. */
  call(server: string, operation: string, args?: Record<string, unknown>): Promise<string>;
  /** Resolves with the exchange when the condition holds; by default, when it is settled. */
  until(key: string, isWanted?: (exchange: Exchange) => boolean): Promise<Exchange>;
  readonly quits: readonly string[];
}

/** The screen of an engine, without a terminal. */
export function openWorkbench({ model, controls }: StartedEngine) {
  const supports = new Set(['text', 'diff']);
  const options = { model, controls, clock: systemClock, level: 0, supports, start: {} } as const;
  const session = createWorkbenchProgram(options);
  return {
    press: (name: string) => session.press(press(name)),
    sees: (columns: number) => drawnWorkbench(session, { columns, rows: 60 }).map(withoutStyle).join('\n'),
  };
}

/** The engine of a workbench, without a screen. */
export function startEngine({
  cwd = '/nonexistent',
  home = cwd,
  env = {},
  headers = {},
  consent = new Consent(null, false),
  ...options
}: Partial<InvokeOptions> & {
  readonly cwd?: string;
  readonly home?: string;
  readonly env?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly consent?: Consent;
} = {}): StartedEngine {
  let text = '';
  const stdout = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  const terminal = { stdin: new PassThrough(), stdout, stderr: stdout, env, cwd, home };
  const run = new Run({ terminal: terminal as unknown as Terminal, secrets: secretsOfHeaders(headers) });
  const quits: string[] = [];
  const engine = createEngine(
    run,
    { options: { ...OPTIONS, ...options }, consent },
    () => void quits.push('quit'),
  );
  const { model, controls } = engine;
  const exchangeOf = (key: string) => model.sources[0]?.callLog.history.exchanges.get(key);
  const open = (target: Parameters<Engine['open']>[0]) => engine.open(target, headers);
  const stands: StartedEngine['stands'] = (id, kind) => {
    type Wanted = Extract<Server['state'], { kind: typeof kind }>;
    const isWanted = (state: Server['state'] | undefined): state is Wanted => state?.kind === kind;
    return eventually(`${id} is ${kind}: ${JSON.stringify(model.servers)}`, () => {
      const state = model.servers.find(server => server.id === id)?.state;
      return isWanted(state) && state;
    });
  };
  return {
    ...engine,
    open,
    stands,
    async ready(url) {
      const id = open({ kind: 'url', url });
      await stands(id, 'ready');
      return id;
    },
    log: run.log,
    about: run.about,
    close: () => run.stop(),
    quits,
    output: () => text,
    async call(server, operation, args = {}) {
      const draft = { server, operation, arguments: args };
      const sent = await controls.run(draft, { validates: true });
      if (sent.kind !== 'sent') throw new Error(JSON.stringify(sent));
      return sent.key;
    },
    until: (key, isWanted = ({ settled }) => settled !== null) =>
      eventually(`the call ${key}`, () => {
        const exchange = exchangeOf(key);
        return exchange && isWanted(exchange) && exchange;
      }),
    [Symbol.asyncDispose]: () => run.stop(),
  };
}
