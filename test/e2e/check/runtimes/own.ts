import { Content } from '../../../../src/events/content.js';
import type { Event } from '../../../../src/events/events.js';
import { temporaryFolder } from '../../support/folder.js';
import { runHere } from '../../support/in-process.js';
import { startPeer } from '../../support/peers.js';
import { ROOT } from '../../support/program.js';
import { transcriptIn } from '../../support/recorder.js';
import { type BrokenRuntime, brokenIn } from './broken-runtime.js';

/** What only a runtime's own transcript shows: ours is asked to be worse than it is, or its transcript is made so. */
export const OWN: readonly BrokenRuntime[] = [
  own('RT-NON200', 'waits on after a 201', 'ack_201', '--lenient-ack'),
  own('RT-RETRY', 'gives up after a 500', 'ack_500', '--retries', '0'),
  { breaks: 'RT-OAUTH', does: 'keeps where to consent', findings: keepingConsent },
];

function own(
  breaks: BrokenRuntime['breaks'],
  does: string,
  operation: string,
  ...flags: string[]
): BrokenRuntime {
  return { breaks, does, findings: () => invoking(operation, flags) };
}

async function invoking(operation: string, flags: readonly string[]): Promise<readonly string[]> {
  await using tool = await startPeer('odd');
  await using folder = await temporaryFolder();
  const file = folder.file('own.ndjson');
  await runHere(['invoke', tool.url, operation, '--save', file, ...flags]);
  return brokenIn((await transcriptIn(file)).events, 'runtime');
}

async function keepingConsent(): Promise<readonly string[]> {
  const { events } = await transcriptIn(`${ROOT}fixtures/transcripts/oauth.ndjson`);
  return brokenIn(events.map(withState), 'runtime');
}

/** With what our own transcript leaves out. */
function withState(event: Event): Event {
  const message = event.kind === 'request' && event.body?.json.ok ? Object(event.body.json.value) : {};
  if (event.kind !== 'request' || message.type !== 'oauth') return event;
  return { ...event, body: Content.ofJson({ ...message, auth_url: `${message.auth_url}?state=kept` }) };
}
