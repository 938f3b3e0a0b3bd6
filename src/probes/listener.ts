import type { Log } from '../exchange/log.js';
import { readCallback } from '../protocol/callbacks/read.js';
import {
  type Arrived,
  CALLBACK_PATH,
  type ListenerOptions,
  serveCallbacks,
  tellCallback,
} from '../runtime/callback-server.js';
import { SecretPaths } from '../transport/secret-paths.js';
import type { Reply } from '../transport/server.js';
import { Allowance, OF_A_CALL, OF_A_RUN, OF_STRAYS } from './allowance.js';
import { type Answering, answer, type Hanging } from './answering.js';
import { Mailbox } from './mailbox.js';
import { cameBy, heardByMany } from './patience.js';

/** A call, as the listener knows it. */
export interface Listening {
  readonly key: string;
  readonly thread: string;
  /** Of its callbacks, one after the other; the last one from then on. */
  readonly answers: readonly Answering[];
  /** Whether its invocation is answered. */
  readonly acknowledged: Promise<unknown>;
}

/** What a call is given to be called back at. */
export interface Address {
  readonly url: string;
  readonly mailbox: Mailbox;
}

export interface ProbeListener {
  open(call: Listening): Address;
  close(): Promise<void>;
}

/** A tool that waits for the answer to its result has not acknowledged first (TOOL-ACK): so long we let it prove that. */
const MOST_ACK_MS = 200;

interface Place extends Listening {
  readonly mailbox: Mailbox;
  readonly allowance: Allowance;
  answered: number;
}

/**
 * Takes the callbacks of the calls of a check, answers each as it is told, and records all of it. A call is known by the token in its
 * address, whatever a tool made of the rest (TOOL-OPAQUE).
 * @throws ProtocolCliError `port-in-use`.
 */
export async function startProbeListener(
  log: Log,
  options: ListenerOptions,
  settings: Hanging,
): Promise<ProbeListener> {
  const paths = new SecretPaths<Place>(CALLBACK_PATH);
  const addresses = { resolve: (path: string) => paths.resolve(withoutRest(path)) };
  const closing = new AbortController();
  const hanging = { ...settings, signal: heardByMany(settings.signal, closing.signal) };
  const ofRun = new Allowance(log, OF_A_RUN, { words: 'in all' });
  const ofStrays = new Allowance(log, OF_STRAYS, { words: 'that were refused, or to a wrong address' });
  const server = await serveCallbacks(log, addresses, options, {
    take: (place, arrived) => {
      const { size } = arrived.body;
      const isAdmitted = place.allowance.admits(size) && ofRun.admits(size);
      return isAdmitted ? receive(log, hanging, place, arrived) : Promise.resolve({ status: 429 });
    },
    callsOf: ({ key }) => [key],
    isTold: () => ofStrays.admits(0),
  });
  return {
    open(call) {
      const mailbox = new Mailbox();
      const allowance = new Allowance(log, OF_A_CALL, { words: 'for one call', calls: [call.key] });
      const { path } = paths.issue({ ...call, mailbox, allowance, answered: 0 });
      return { url: server.urlOf(path), mailbox };
    },
    close() {
      closing.abort();
      return server.close();
    },
  };
}

/** The secret part of a path alone. */
function withoutRest(path: string): string {
  const [known = path] = /^\/callback\/[\w-]{43}/.exec(path) ?? [];
  return known;
}

async function receive(log: Log, hanging: Hanging, place: Place, arrived: Arrived): Promise<Reply> {
  const { key, thread, mailbox, answers, acknowledged } = place;
  const calls = [key];
  const { body } = arrived;
  const leg = tellCallback(log, { calls, thread }, arrived);
  const reading = readCallback(body.json);
  const message = reading.ok ? reading.message : null;
  const planned = answers[Math.min(place.answered++, answers.length - 1)] ?? 200;
  if (message?.type === 'tool_result') await cameBy(hanging, MOST_ACK_MS, acknowledged);
  const reply = await answer(
    log,
    hanging,
    { leg, calls, arrived },
    message || planned !== 200 ? planned : 400,
  );
  const isTaken = reply !== 'reset' && reply.status === 200;
  mailbox.put({ leg, message, sha256: body.sha256, isTaken });
  return reply;
}
