import { excerpt } from '../../util/text.js';
import type { CallEvidence } from '../call.js';
import { type Discovery, isTo, type KnownServer } from '../discovery.js';
import type { DriverEvidence } from '../driver-evidence.js';
import type { Evidence } from '../evidence.js';
import { defineRules, doubtful, met, type Observed, violated, violatedIfComplete } from '../rule.js';

/** What a runtime does with the toolsets that it fetches. */
export const runtimeToolsetRules = defineRules({
  'RT-TOOLSET': {
    level: 'MUST',
    statement: 'rejects a toolset with any error; a name defined in two toolsets is available from neither',
    advice: 'Reject the whole toolset if any part is invalid, and reject names that two toolsets define.',
    absent: 'the runtime fetched no invalid toolset with operations, and no two with the same operation',
    observe: evidence => [
      evidence.servers.map(each => judgeInvalidServer(each, evidence)),
      judgeDuplicateNames(evidence),
      evidence.driver?.crash ? null : judgeUnusedToolset(evidence),
    ],
  },
  'RT-CACHE': {
    level: 'SHOULD',
    statement: 'fetches a toolset once per session, and uses it until the session ends or migrates',
    advice: 'Fetch each toolset when a session begins, and keep it until the session ends or migrates.',
    needs: ['invoke'],
    absent: 'no scenario made two calls; a recording does not show when a runtime starts anew',
    observe: ({ servers, calls, driver }) =>
      driver ? servers.map(each => judgeCachedToolset(each, calls, driver)) : null,
  },
});

function judgeInvalidServer(server: KnownServer, { requestedCalls, calls, driver }: Evidence): Observed {
  const { invalidNames: names, discoveries } = server;
  const isInvalidName = (name = '') => names.includes(name) || (!driver && names.length > 0);
  const [called] = calls
    .filter(({ tool, invocation }) => !tool && isInvalidName(invocation?.operation))
    .flatMap(({ attempts }) => attempts.slice(0, 1))
    .filter(attempt => isTo(server, attempt));
  if (called)
    return violatedIfComplete('an operation of an invalid toolset was called', [...discoveries, called]);
  const isAsked = requestedCalls.some(
    ({ message, tools }) => tools.length === 0 && names.includes(message.operation),
  );
  return isAsked || (!driver && names.length > 0) ? met(discoveries) : null;
}

/** A second request to the same server does not add a second toolset. */
function judgeDuplicateNames({ discoveries, calls }: Evidence): Observed {
  const owners = new Map<string, Discovery>();
  const duplicates = new Map<string, readonly Discovery[]>();
  for (const discovery of discoveries)
    for (const { name } of discovery.reading?.ok ? discovery.reading.toolset.tools : []) {
      const owner = owners.get(name);
      if (!owner) owners.set(name, discovery);
      else if (owner.request.url !== discovery.request.url) duplicates.set(name, [owner, discovery]);
    }
  return [...duplicates].map(([name, proof]) => {
    const called = calls.find(({ invocation }) => invocation?.operation === name);
    const what = `${excerpt(name)} is defined by two toolsets, and was called`;
    return called ? violated(what, [...proof, ...called.attempts]) : met(proof);
  });
}

/** An invalid toolset, or two equal names, do not make the other operations unavailable. */
function judgeUnusedToolset({ requestedCalls, servers }: Evidence): Observed {
  const names = servers.flatMap(({ toolset }) => toolset?.tools.map(({ name }) => name) ?? []);
  if (servers.every(({ toolset }) => toolset) && new Set(names).size === names.length) return null;
  return requestedCalls
    .filter(({ call, argumentFaults }) => !call && argumentFaults?.length === 0)
    .map(each => doubtful(`${each.message.operation} of a valid toolset was not called`, each));
}

/** A migration may read the toolset again. */
function judgeCachedToolset(
  { discoveries }: KnownServer,
  calls: readonly CallEvidence[],
  driver: DriverEvidence,
): Observed {
  const movedAt = driver.instructions('migrate')[0]?.event.seq ?? Number.POSITIVE_INFINITY;
  const own = discoveries.filter(({ request }) => request.seq < movedAt);
  const loaded = own.findIndex(({ reading }) => reading?.ok);
  const [first, again] = loaded < 0 ? [] : [own[loaded], own.at(-1)];
  const [call, ...others] = calls.flatMap(({ attempts }) => attempts.slice(0, 1));
  if (!first || !again || !call) return null;
  if (again !== first && again.request.seq > call.request.seq)
    return violated('the toolset was fetched again within the session', [first, call, again]);
  return others.length > 0 ? met(first) : null;
}
