import { bareUrl } from '../../text/redact.js';
import type { CallbackEvidence, Evidence } from '../evidence/evidence.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-OAUTH: of a consent's URL a runtime's transcript keeps no more than where it leads. */
export const keepsNoConsentUrl: Rule = {
  id: 'RT-OAUTH',
  absent: 'it is no transcript of a runtime with a consent in it',
  observe: ({ calls, observer }: Evidence) =>
    observer === 'runtime' ? calls.flatMap(({ callbacks }) => callbacks.flatMap(onCallback)) : [],
};

function onCallback(callback: CallbackEvidence): Observation[] {
  const { reading } = callback;
  if (!reading?.ok || reading.message.type !== 'oauth') return [];
  const { auth_url } = reading.message;
  return [
    auth_url === bareUrl(auth_url)
      ? held([callback])
      : broken('the transcript keeps the query of the auth_url', [callback]),
  ];
}
