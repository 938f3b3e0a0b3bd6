import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import type { Event } from '../../../src/events/events.js';
import { readTranscript } from '../../../src/events/transcript-reader.js';
import { eventually } from './eventually.js';
import { type MockHere, startMockHere } from './mock.js';
import { type Entry, fieldOf, type Peer, type PeerName, startPeer } from './peers.js';

/** What a tool is sent, by the protocol's words. */
export type Heard = 'invocation' | 'choice' | 'consent' | 'cancel' | 'close';

/** Strings that a message has, by their keys. */
export type Fits = Readonly<Record<string, string>>;

/** A tool that the flows are tried on: a peer, or the mock with fixtures that do the same. */
export interface FlowTool {
  readonly url: string;
  /** Waits until it was sent something that fits. The body as it came. */
  hears(what: Heard, fits: Fits): Promise<unknown>;
  /** The bodies that fit, so far. */
  heard(what: Heard, fits: Fits): Promise<unknown[]>;
  /** What was answered to the callbacks that fit, one attempt after the other; null without an answer. */
  answers(fits: Fits): Promise<(number | null)[]>;
  stop(): Promise<unknown>;
}

/** What a tool has been sent and has delivered, in its own words. */
interface Journal {
  heard(what: Heard): Promise<unknown[]>;
  delivered(): Promise<readonly { readonly body: unknown; readonly status: number | null }[]>;
}

const FIXTURES = fileURLToPath(new URL('../flows/fixtures.yaml', import.meta.url));

/** Starts these tools before the tests of a file, and stops them after; `mock` is the mock with the fixtures of the flows. */
export function flowTools<Name extends PeerName | 'mock'>(
  ...names: readonly Name[]
): (name: Name) => FlowTool {
  const started = new Map<Name, FlowTool>();
  beforeAll(async () => {
    const start = async (name: Name) => started.set(name, await startFlowTool(name));
    await Promise.all(names.map(start));
  });
  afterAll(() => Promise.all([...started.values()].map(tool => tool.stop())));
  return name => {
    const tool = started.get(name);
    if (!tool) throw new Error(`${name} is not there before the tests begin`);
    return tool;
  };
}

export async function startMockTool(fixtures: string): Promise<FlowTool> {
  const mock = await startMockHere([fixtures, '-q']);
  return toolOf(mock, mockJournal(mock));
}

async function startFlowTool(name: PeerName | 'mock'): Promise<FlowTool> {
  if (name === 'mock') return startMockTool(FIXTURES);
  const peer = await startPeer(name);
  return toolOf(peer, peerJournal(peer));
}

function toolOf({ url, stop }: Pick<FlowTool, 'url' | 'stop'>, journal: Journal): FlowTool {
  const heard = async (what: Heard, fits: Fits) =>
    (await journal.heard(what)).filter(body => isFitting(body, fits));
  return {
    url,
    stop: () => stop(),
    heard,
    hears: (what, fits) =>
      eventually(`${what} with ${JSON.stringify(fits)}`, async () => (await heard(what, fits))[0]),
    answers: async fits =>
      (await journal.delivered()).flatMap(({ body, status }) => (isFitting(body, fits) ? [status] : [])),
  };
}

function isFitting(body: unknown, fits: Fits): boolean {
  return Object.entries(fits).every(([key, value]) => fieldOf({ body }, key) === value);
}

const PEER_WORDS: Readonly<Record<Heard, string>> = {
  invocation: 'invocation',
  choice: 'choice',
  consent: 'consent',
  cancel: 'cancel_tool_call',
  close: 'close_thread',
};

function peerJournal({ log }: Peer): Journal {
  const entries = async (what: Entry['what']) => (await log()).filter(entry => entry.what === what);
  return {
    heard: async what => (await entries(PEER_WORDS[what])).map(({ body }) => body),
    delivered: () => entries('delivery'),
  };
}

function mockJournal({ url }: MockHere): Journal {
  const events = async () => {
    const response = await fetch(`${url}/__mock__/journal`, { headers: { accept: 'application/x-ndjson' } });
    return readTranscript((await response.text()).split('\n')).events;
  };
  return {
    heard: async what => requestsIn(await events(), what).map(({ body }) => body),
    delivered: async () => {
      const all = await events();
      const statuses = new Map(
        all.flatMap(event => (event.kind === 'response' ? [[event.leg, event.status]] : [])),
      );
      return requestsIn(all, 'callback').map(({ leg, body }) => ({
        body,
        status: statuses.get(leg) ?? null,
      }));
    },
  };
}

function requestsIn(events: readonly Event[], purpose: Heard | 'callback') {
  return events.flatMap(event =>
    event.kind === 'request' && event.purpose === purpose
      ? [{ leg: event.leg, body: event.body?.json.ok ? event.body.json.value : undefined }]
      : [],
  );
}
