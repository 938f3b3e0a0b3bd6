import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { EventRing } from '../../events/bounded-events.js';
import { Content } from '../../events/content.js';
import type { Event, Fact } from '../../events/events.js';
import { createLog, type Listener } from '../../events/log.js';
import {
  FindingsCollector,
  type SessionProblem,
  type SessionVerificationReport,
} from '../../events/verification-report.js';
import { type Difference, wantedText } from '../../fixtures/match.js';
import { defaultSessionScript } from '../../fixtures/session-script.js';
import type { Answer, Incoming, Refusal, Route } from '../../http/request-body.js';
import { type RunningServer, startServer } from '../../http/server.js';
import { isSettledStatus, isTerminal } from '../../protocol/callbacks.js';
import { systemClock } from '../../system/drafts.js';
import { ProtocolCliError } from '../../util/errors.js';
import { parseJson, readJson } from '../../util/json.js';
import { isRecord } from '../../util/json-diagnosis.js';
import { jsonPath } from '../../util/redact-json.js';
import { createRoute, lookRoutes } from './create-and-read.js';
import { type Detail, detail, type Judgement, judgeResults, read } from './judge-results.js';
import {
  type Api,
  type Asked,
  elsewhereRoute,
  idIn,
  idRoute,
  reasonOf,
  refuse,
  sessionRoute,
} from './routes.js';
import {
  awaitingFact,
  bytesOf,
  createSession,
  end,
  ending,
  goOn,
  hasRoom,
  type Session,
  type Settled,
  type Stepped,
  start,
  statusFact,
  statusOf,
  withEvent,
  withState,
} from './session-state.js';
import { DEFAULTS, FIRST_SESSION, type SessionPlatformOptions, SessionStore, StopBell } from './store.js';

const NOTHING = { facts: [] } as const;

/** The agent stops where it is. Results are still taken; it goes on once it is resumed. */
export function pause(session: Session): Stepped {
  if (session.isPaused || isTerminal(session.phase)) return { session, ...NOTHING };
  const paused = { ...session, isPaused: true };
  return { session: paused, facts: [statusFact(paused)] };
}

/** The agent picks up where it left off; one that runs is left alone. */
export function resume(session: Session, at: string): Stepped {
  if (!session.isPaused) return { session, ...NOTHING };
  const resumed = { ...session, isPaused: false };
  if (resumed.phase === 'running') return goOn(resumed, at);
  const facts = [statusFact(resumed), ...(resumed.pending.length > 0 ? [awaitingFact(resumed)] : [])];
  return { session: withState(resumed, at), facts };
}

/** The agent answers now, with what it has: no call is waited for any more. */
export function forceAnswer(session: Session, at: string): Stepped {
  if (isTerminal(session.phase) || session.phase === 'idle') return { session, ...NOTHING };
  return end({ ...session, abandoned: [...session.abandoned, ...session.pending], pending: [] }, at);
}

/** DELETE: irreversible, and the session is still there to be read. */
export function cancel(session: Session, at: string): Stepped {
  return isTerminal(session.phase) ? { session, ...NOTHING } : ending(session, 'interrupted', at);
}

/** Whether a session can be paused once more: each time it is resumed, it publishes its calls again. */
function canPause(session: Session): boolean {
  return hasRoom(session, { events: 1, bytes: 0 });
}

function canTake(session: Session, messages: readonly string[]): boolean {
  const bytes = messages.reduce((sum, message) => sum + bytesOf(told(message)), 0);
  return hasRoom(session, { events: messages.length, bytes });
}

/** Messages of a user: they are in the events, and resume a paused session. The script goes on as it is written. */
export function takeMessages(session: Session, messages: readonly string[], at: string): Stepped {
  const taken = messages.reduce((each, message) => withEvent(each, 'AgentEvent', told(message), at), session);
  return resume(taken, at);
}

function told(message: string) {
  return { kind: 'user_message', message };
}

const TOO_MUCH = { detail: 'This session has too many events.' };

/** Everything by which a client steers a session, apart from tool results. */
function steerRoutes(api: Api): Route[] {
  return [
    ...Object.entries({ pause, resume, force_answer: forceAnswer }).map(([name, step]) =>
      sessionRoute(api, { method: 'POST', purpose: 'session', name }, ({ serve, session }) => {
        if (step === pause && !canPause(session)) return serve().json(429, TOO_MUCH);
        const answer = serve().empty(202);
        api.store.step(session, step);
        return answer;
      }),
    ),
    sessionRoute(api, { method: 'DELETE', purpose: 'session' }, ({ serve, session }) => {
      const answer = serve().empty(204);
      api.store.step(session, cancel);
      return answer;
    }),
    messagesRoute(api),
  ];
}

function messagesRoute(api: Api): Route {
  const endpoint = { method: 'POST', purpose: 'message', name: 'messages', accepts: 'json' } as const;
  return sessionRoute(api, endpoint, ({ incoming, serve, session }) => {
    const messages = messagesIn(incoming);
    if (!messages.ok) return serve().json(422, { detail: messages.details });
    if (isTerminal(session.phase)) return serve().json(409, { detail: 'Session has already finished.' });
    if (!canTake(session, messages.value) || !api.store.hasRoom(incoming.body.length))
      return serve().json(429, TOO_MUCH);
    const answer = serve().empty(202);
    api.store.step(session, (each, at) => takeMessages(each, messages.value, at));
    return answer;
  });
}

const messageSchema = z.object({ type: z.literal('user_message'), message: z.string() });
const batchSchema = z.object({ type: z.literal('batch'), messages: z.array(messageSchema) });

type MessagesReading =
  | { readonly ok: true; readonly value: readonly string[] }
  | { readonly ok: false; readonly details: readonly Detail[] };

/** One message, or a batch of them (platforms). */
function messagesIn({ body }: Incoming): MessagesReading {
  const json = readJson(body);
  if (!json.ok) return refused(detail('json_invalid', ['body'], `JSON decode error: ${json.reason}`, {}));
  if (!isRecord(json.value))
    return refused(detail('dict_type', ['body'], 'Input should be a valid dictionary', json.value));
  if (json.value['type'] !== 'batch') {
    const one = read(messageSchema, json.value, ['body']);
    return one.ok ? { ok: true, value: [one.value.message] } : one;
  }
  const batch = read(batchSchema, json.value, ['body']);
  return batch.ok ? { ok: true, value: batch.value.messages.map(({ message }) => message) } : batch;
}

function refused(...details: Detail[]): MessagesReading {
  return { ok: false, details };
}

/** Where an answer is not as its script expects it. */
interface Unexpected {
  /** In the settled call. */
  readonly path: string;
  readonly reason: string;
}

/** How the answer of a call is not as the script of its session expects it; nothing where that expects nothing. */
function unexpectedIn({ script }: Pick<Session, 'script'>, { call, answer }: Settled): Unexpected[] {
  const expected = script.rounds.flat().find(({ key }) => key === call.key)?.expected;
  return (expected?.(answer) ?? []).map(difference => ({
    path: jsonPath(difference.path),
    reason: `${wantedText(difference)}${isUnparsed(difference) ? UNPARSED : ''}`,
  }));
}

const UNPARSED = ' (it is a string; --parse-json of session answer parses it)';

/** A RAP text is posted as the string it is (platforms). */
function isUnparsed({ wanted, actual }: Difference): boolean {
  if (!isRecord(wanted) || typeof actual !== 'string') return false;
  const reading = parseJson(actual);
  return reading.ok && isRecord(reading.value);
}

/** Pending calls have their answers: what survives is published again, and with the last one the agent runs on. */
export function settle(session: Session, answers: readonly Settled[], at: string): Stepped {
  if (answers.length === 0) return { session, facts: [] };
  const keys = new Set(answers.map(({ call }) => call.key));
  const pending = session.pending.filter(({ key }) => !keys.has(key));
  const bodies = answers.map(({ answer }) => Content.ofJson(answer));
  const postedBytes = bodies.reduce((sum, { size }) => sum + size, session.postedBytes);
  const settled: Session = { ...session, pending, settled: [...session.settled, ...answers], postedBytes };
  const answered = answers.map((answer, index) => answeredFact(session, answer, bodies[index]));
  if (pending.length > 0)
    return { session: withState(settled, at), facts: [...answered, awaitingFact(settled)] };
  const running: Session = { ...settled, phase: 'running' };
  const next = session.isPaused ? { session: withState(running, at), facts: [] } : goOn(running, at);
  return { session: next.session, facts: [...answered, ...next.facts] };
}

/** Of how an answer is not as expected this much is told. */
const MOST_UNEXPECTED = 20;

function answeredFact(session: Session, settled: Settled, body: Content | undefined): Fact {
  const { call } = settled;
  const differences = unexpectedIn(session, settled).slice(0, MOST_UNEXPECTED);
  const unexpected = differences.map(({ path, reason }) => `${path} ${reason}`);
  return {
    kind: 'answered',
    by: 'platform',
    calls: [call.key],
    thread: session.id,
    body,
    ...(unexpected.length > 0 && { unexpected }),
  };
}

/** Smaller results are always taken, so that each session can be brought to its end. */
const SMALL = 64 * 1024;
const TOO_LARGE = 'The sessions are too large together; start the mock again.';

/** Takes the results of pending calls (seed 001). What is accepted is answered before the agent runs on. */
function toolResultsRoute(api: Api): Route {
  const endpoint = {
    method: 'POST',
    purpose: 'tool_results',
    name: 'tool_results',
    accepts: 'json',
    verifies: 'results',
  } as const;
  return idRoute(api, endpoint, asked => {
    const { session, incoming } = asked;
    if (incoming.body.length > SMALL && !api.store.hasRoom(incoming.body.length)) {
      refuse(api, { session: session?.id ?? null, status: 429, reason: TOO_LARGE });
      return asked.serve().json(429, { detail: TOO_LARGE });
    }
    const judgement = judgeResults(session, readJson(incoming.body));
    const answer = answerTo(asked, session?.id, judgement);
    if (session) api.store.step(session, (each, at) => settle(each, judgement.settles, at));
    return answer;
  });
}

function answerTo(
  { api, serve }: Asked,
  session: string | undefined,
  { status, detail, settles, warnings }: Judgement,
): Answer {
  const served = serve({ calls: settles.map(({ call }) => call.key) });
  const about = session === undefined ? {} : { thread: session };
  for (const { message, key } of warnings)
    api.log.emit({ kind: 'warned', message, ...about, ...(key !== undefined && { calls: [key] }) });
  if (detail === undefined) return served.empty(status);
  refuse(api, { session: session ?? null, status, reason: reasonOf(detail) });
  return served.json(status, { detail });
}

/** Opens the server of a platform. @throws ProtocolCliError `port-in-use`, `usage`. */
function serve(api: Api, { host, port, allowHosts = [] }: SessionPlatformOptions): Promise<RunningServer> {
  const routes = [createRoute(api), ...lookRoutes(api), ...steerRoutes(api), toolResultsRoute(api)];
  return startServer({
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    allowedHosts: allowHosts,
    maxBody: DEFAULTS.maxBody,
    explains: 'json',
    routes: [...routes, elsewhereRoute(api, routes)],
    onRefused: refusal => tellRefused(api, refusal),
  });
}

/** Before any handler: a body too large, a foreign Host, a web page. Of results that is a finding too. */
function tellRefused(api: Api, { method = '', target = '', status, detail }: Refusal): void {
  const message = `a request was refused with ${status}, since ${detail}: ${method} ${target.split('?', 1)[0]}`;
  const session = api.store.get(idIn({ target }))?.id;
  api.log.emit({ kind: 'warned', message, ...(session !== undefined && { thread: session }) });
  if (/\/tool_results(?:\?|$)/.test(target))
    refuse(api, { session: session ?? null, status, reason: detail });
}

/** Whether sessions went as their script has it. @param refused posts that were not accepted */
export function verificationOf(
  sessions: readonly Session[],
  refused: FindingsCollector<SessionProblem>,
): SessionVerificationReport {
  const problems = refused.with(sessions.flatMap(problemsOf));
  const answered = sum(sessions, ({ settled }) => settled.length);
  const open = sum(sessions, session => unansweredIn(session).length);
  return { ok: problems.count === 0, sessions: sessions.length, calls: answered + open, answered, problems };
}

function problemsOf(session: Session): SessionProblem[] {
  const { id, script, round } = session;
  const unanswered = unansweredIn(session).map(
    ({ key, tool_name }): SessionProblem => ({ kind: 'unanswered', session: id, call: key, tool_name }),
  );
  const left = script.rounds.length - 1 - round;
  const unreached: SessionProblem[] =
    left > 0 ? [{ kind: 'unreached', session: id, rounds: left, of: script.rounds.length }] : [];
  return [...session.settled.flatMap(settled => otherwiseIn(session, settled)), ...unanswered, ...unreached];
}

function unansweredIn({ pending, abandoned }: Session): Session['pending'] {
  return [...abandoned, ...pending];
}

function otherwiseIn(session: Session, settled: Settled): SessionProblem[] {
  const { key, tool_name } = settled.call;
  return unexpectedIn(session, settled).map(each => ({
    kind: 'unexpected',
    session: session.id,
    call: key,
    tool_name,
    ...each,
  }));
}

function sum(sessions: readonly Session[], count: (session: Session) => number): number {
  return sessions.reduce((total, session) => total + count(session), 0);
}

/** Less than test runners allow a test by default, so that what this says is what is read. */
const PATIENCE_MS = 4_000;

/** A session as a test looks at it. */
export interface SessionState {
  readonly id: string;
  readonly status: string;
  /** JSON; null until the agent said it. */
  readonly answer: unknown;
  /** Calls that wait for an answer. */
  readonly pending: Session['pending'];
  /** Calls and their answers, in the order in which they came. */
  readonly settled: Session['settled'];
}

/** The platform of agent sessions, played by a script. */
export class SessionPlatform implements AsyncDisposable {
  #closed: Promise<void> | undefined;
  readonly #ring: EventRing;

  private constructor(
    private readonly api: Api,
    private readonly server: RunningServer,
    ring: EventRing,
  ) {
    this.#ring = ring;
  }

  /** @throws ProtocolCliError `port-in-use`, `usage`. */
  static async start(options: SessionPlatformOptions = {}): Promise<SessionPlatform> {
    const { script = defaultSessionScript(), clock = systemClock, keep = DEFAULTS.keep } = options;
    const { key = randomBytes(24).toString('base64url') } = options;
    requireSendable(key);
    const { log = createLog(() => clock.now()) } = options;
    const ring = new EventRing({ events: keep });
    log.subscribe(event => ring.push(event));
    const store = new SessionStore(log, clock);
    const bell = new StopBell();
    const api: Api = { log, key, script, store, clock, bell, refused: new FindingsCollector() };
    const server = await serve(api, options);
    const at = clock.wall().toISOString();
    const first = createSession({ id: FIRST_SESSION, script, tools: script.tools, request: {}, at });
    store.add(first);
    store.step(first, start);
    return new SessionPlatform(api, server, ring);
  }

  get port(): number {
    return this.server.port;
  }

  /** The base, without `/api/v2`. */
  get url(): string {
    return this.server.url;
  }

  /** What clients show as `Authorization: Bearer …`. */
  get key(): string {
    return this.api.key;
  }

  /** The id of the session that is there from the start; further ones are created by clients. */
  get session(): string {
    return FIRST_SESSION;
  }

  /** Oldest first. */
  sessions(): readonly SessionState[] {
    return this.api.store.all.map(stateOf);
  }

  /** The events that are remembered, oldest first. */
  get events(): readonly Event[] {
    return this.#ring.events;
  }

  /** Tells of every event from now on. Returns how to stop listening. */
  subscribe(listener: Listener): () => void {
    return this.api.log.subscribe(listener);
  }

  /**
   * A session, once it is at its end, or idle. @param id the one that is there from the start unless told
   * @throws Error where there is no such session; after `timeoutMs`, 4,000 unless told.
   */
  waitForSettled(id: string = FIRST_SESSION, { timeoutMs = PATIENCE_MS } = {}): Promise<SessionState> {
    const { store, clock } = this.api;
    const now = () => {
      const session = store.get(id);
      if (!session) throw new Error(`there is no session "${id}"`);
      return stateOf(session);
    };
    return new Promise((resolve, reject) => {
      const seen = now();
      if (isSettledStatus(seen.status)) return resolve(seen);
      const unwatch = store.watch(id, () => {
        const state = now();
        if (!isSettledStatus(state.status)) return;
        callOff();
        unwatch();
        resolve(state);
      });
      const callOff = clock.after(timeoutMs, () => {
        unwatch();
        reject(
          new Error(`waited ${timeoutMs} ms for the session "${id}" to settle in vain; ${whyNot(now())}`),
        );
      });
    });
  }

  /** What was unanswered, unexpected, unreached or refused, so far. */
  verify(): SessionVerificationReport {
    return verificationOf(this.api.store.meant, this.api.refused);
  }

  /** Whoever waits for news gets a 204; then everything ends. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.api.bell.ring();
    await this.server.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** See {@link SessionPlatform.start}. */
export const startSessionPlatform = SessionPlatform.start;

function stateOf(session: Session): SessionState {
  const { id, answer, pending, settled } = session;
  return { id, status: statusOf(session), answer, pending, settled };
}

function whyNot({ status, pending }: SessionState): string {
  const calls = pending.map(({ tool_name, key }) => `${tool_name} (${key})`);
  return calls.length > 0 ? `it is ${status}, for ${calls.join(', ')}` : `it is ${status}`;
}

/** What a header can carry, in one word. */
function requireSendable(key: string): void {
  if (/^[\x21-\x7e]{1,1024}$/.test(key)) return;
  throw new ProtocolCliError('usage', 'the key cannot be sent in a header', {
    hint: 'A key is one word of visible ASCII characters, at most 1024 of them.',
  });
}
