import type { Errand, Errands } from '../exchange/errands.js';
import { type Arrival, answeredAttempt, type Exchange, unreadSize } from '../exchange/exchange.js';
import { bytesText } from '../text/bytes-text.js';

/** Where a failure is told. What helps may be an option: on a command line that is the next word, elsewhere it belongs to a command. */
export type Place = 'command line' | 'workbench';

/** What there is to say it by. */
export interface Scene {
  readonly exchange: Exchange;
  readonly errands: Errands;
  readonly place: Place;
}

function option(name: string, { place }: Scene): string {
  return place === 'workbench' ? `invoke -i ${name}` : name;
}

/** What helps where the tool did not accept the call. */
export function refusalHint(scene: Scene, status: number): string {
  return scene.exchange.dialect === 'mcp' ? "The server's own log says why." : ackHint(scene, status);
}

function ackHint(scene: Scene, status: number): string {
  if (status >= 500)
    return `The tool failed to accept the invocation: its own log says why. It was sent again as often as ${option('--retries', scene)} allows.`;
  if (status >= 300 && status < 400)
    return "Redirects are never followed: put the final address into the toolset's endpoint.";
  if (status < 300)
    return `Only 200 acknowledges an invocation (TOOL-ACK); ${option('--lenient-ack', scene)} waits on any 2xx.`;
  return 'A 4xx is never sent again (RT-NORETRY): mend the request, or the tool.';
}

/** What helps where nobody gave a consent in time. */
export function consentHint({ place }: Scene): string {
  return CONSENT_HINTS[place];
}

const CONSENT_HINTS: Readonly<Record<Place, string>> = {
  'command line':
    'Call again and visit the URL that is printed. Without --timeout, or on a terminal, the wait has no end.',
  workbench: 'Run it again here, and visit the URL that is shown: the wait for that has no end.',
};

/** Why nothing came in time, the likeliest reason first: what came and did not count, then where nothing came at all. */
export function timeoutHint(scene: Scene): string {
  const { exchange, errands } = scene;
  const moreTime = option('--timeout', scene);
  if (exchange.dialect === 'mcp')
    return `The server was told that the call is cancelled. ${moreTime} gives more time.`;
  const { callback_url } = exchange.invocation;
  const origin = URL.canParse(callback_url) ? new URL(callback_url).origin : callback_url;
  const [reason] = exchange.arrivals.flatMap(reasonOf);
  if (reason !== undefined)
    return `A callback came to the URL it was given, at ${origin}, but did not count: ${reason}.`;
  if (errands.ofCall(exchange.key).some(isLostSelection))
    return 'The tool had asked, and the selection did not reach its response_url: it may still wait for it.';
  if (errands.hasStrays)
    return `Something was posted to ${origin}, but not to the callback URL: that must be used exactly as it was given.`;
  const reach = `The tool must be able to reach the callback URL it was given, at ${origin}.`;
  return `${aboutAnswer(exchange)}${reach} ${option('--callback-url', scene)} gives another address, ${moreTime} more time.`;
}

/** What was odd about the acknowledgement, if anything: a result in it is every beginner's first mistake. */
function aboutAnswer(exchange: Exchange): string {
  if (!answeredAttempt(exchange))
    return 'The connection was taken, but no answer came: the tool must answer 200 before it works. ';
  const size = unreadSize(exchange);
  if (size === 0) return '';
  return `The 200 had a body of ${bytesText(size)}, which nobody reads: POST the result to the callback_url. `;
}

/** Whose rule it was that forbade the call. */
export function policyHint(scene: Scene): string {
  return `The file of ${option('--policy', scene)} says what may be called.`;
}

/** Why a callback did not count. What nobody here knows was no result anyway. */
function reasonOf({ verdict }: Arrival): string[] {
  return verdict.kind === 'rejected' || verdict.kind === 'discarded' ? [verdict.reason] : [];
}

function isLostSelection({ purpose, status }: Errand): boolean {
  return purpose === 'choice' && status !== 200;
}
