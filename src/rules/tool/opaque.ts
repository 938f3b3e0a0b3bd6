import { idOf } from '../../exchange/judge.js';
import { addresseeIn } from '../../protocol/read-invocation.js';
import { differenceOf, featuresOf } from '../evidence/callback-target.js';
import { endingOf } from '../evidence/ending.js';
import type { CallbackEvidence, CallEvidence, Evidence } from '../evidence/evidence.js';
import { told } from '../evidence/messages.js';
import { broken, doubtful, held, lacking, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';
import { OF_CALLBACKS } from './shared/follow-ups.js';

/** TOOL-OPAQUE: callbacks come to the very URL that was given. */
export const usesUrlAsGiven: Rule = {
  id: 'TOOL-OPAQUE',
  masks: ['TOOL-ASYNC', 'TOOL-ALWAYS', ...OF_CALLBACKS],
  absent: 'no callback came',
  observe: evidence => {
    const what = triedWith(evidence.calls);
    return [...evidence.calls.flatMap(call => onCall(call, what)), ...onStrays(evidence)];
  },
};

/** What there was in the URLs that could have been changed. */
function triedWith(calls: Evidence['calls']): string | undefined {
  const used = calls.filter(({ callbacks }) => callbacks.length > 0);
  const features = new Set(
    used.flatMap(({ reading }) => featuresOf(addresseeIn(reading)?.callback_url ?? '')),
  );
  return features.size > 0 ? `also with ${[...features].join(', ')}` : undefined;
}

function onCall({ reading, callbacks }: CallEvidence, what: string | undefined): readonly Observation[] {
  const given = addresseeIn(reading)?.callback_url;
  if (given === undefined) return [];
  return callbacks.map(callback => {
    const difference = differenceOf(given, callback.request.url);
    return difference === null
      ? held([callback], what)
      : broken(`a callback came to another URL than was given: ${difference}`, [callback]);
  });
}

/** Who posts there is not known by the address alone; where a call is left without its callback, it is. */
function onStrays({ calls, strays }: Evidence): readonly Observation[] {
  const ids = new Set(calls.flatMap(({ reading }) => (reading.ok ? [reading.invocation.id] : [])));
  const posts = strays.filter(({ request, response }) => request.method === 'POST' && isAstray(response));
  const ours = told({ callbacks: posts }).filter(({ message }) => ids.has(idOf(message) ?? ''));
  if (ours.length > 0)
    return [
      broken(
        words(ours.length, 'that names a call'),
        ours.map(each => each.callback),
      ),
    ];
  if (posts.length === 0) return [];
  const isLeftOut = calls.some(call => call.callbacks.length === 0 && endingOf(call).kind === 'silent');
  const tell = isLeftOut ? lacking : doubtful;
  return [tell(words(posts.length, isLeftOut ? 'and a call without any' : ''), posts)];
}

/** What a listener turns away for another reason has reached no address at all. */
function isAstray(response: CallbackEvidence['response']): boolean {
  return response?.refusal === undefined || response.refusal === 'wrong-address';
}

function words(count: number, more: string): string {
  return `${count} post${count === 1 ? '' : 's'} to a wrong callback address ${more}`.trim();
}
