import { usesConsentPage } from '../../fixtures/consent-page.js';
import type { FixtureSet } from '../../fixtures/fixture-set.js';
import { overshadowed } from '../../fixtures/matching/overshadowed.js';
import { visibleLine } from '../../text/visible.js';
import { isLoopback } from '../../transport/addresses.js';
import { parseHost } from '../../transport/hosts.js';
import { isWildcard } from '../../transport/server.js';
import type { MockToolFlags } from './plan.js';

/** What a person should know at the start, though nothing is wrong. @param url the mock's own base URL. */
export function startWarnings(
  { host, allowHost = [] }: Pick<MockToolFlags, 'host' | 'allowHost'>,
  url: string,
  fixtures: FixtureSet | undefined,
): string[] {
  return [
    ...openWarnings({ host }),
    ...(fixtures
      ? [...consentWarnings([new URL(url).host, ...allowHost], fixtures), ...fixtureWarnings(fixtures)]
      : []),
  ];
}

export function openWarnings({ host }: Pick<MockToolFlags, 'host'>): string[] {
  return isWildcard(host) ? [`it is open to the network (--host ${host})`] : [];
}

/** Fixtures that can never answer; that may be meant, so it is no fault. */
export function fixtureWarnings({ fixtures }: Pick<FixtureSet, 'fixtures'>): string[] {
  return overshadowed(fixtures).map(({ fixture: { id, place }, by }) => {
    const where = id === place ? '' : ` (${place})`;
    return visibleLine(
      `fixture ${id} can never answer: ${by.id}, which stands before it, takes every call it could match${where}`,
    );
  });
}

/** An `auth_url` names the mock as its runtime reaches it, and the page has no https (TOOL-OAUTH). */
function consentWarnings(hosts: readonly string[], fixtures: FixtureSet): string[] {
  const [stranger] = hosts.filter(host => !isLoopback(parseHost(host)?.name ?? ''));
  if (stranger === undefined || !usesConsentPage(fixtures)) return [];
  return [
    `runtimes that call it as ${visibleLine(stranger)} must refuse the auth_url of its consent page, which is http: and not on loopback (TOOL-OAUTH); give the oauth step an https auth_url of its own`,
  ];
}
