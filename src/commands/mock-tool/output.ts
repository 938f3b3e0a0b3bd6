import { unread } from '../../events/bounded-events.js';
import { callbackSecrets } from '../../events/shareable.js';
import { overshadowed } from '../../fixtures/answer-call.js';
import { type FixtureSet, stepsOf } from '../../fixtures/fixture-set.js';
import { isLoopback } from '../../http/addresses.js';
import { parseHost } from '../../http/guard.js';
import type { MockTool, MockToolOptions } from '../../mock/mock-tool.js';
import { systemClock } from '../../system/clock.js';
import { visibleLine } from '../../util/visible.js';
import { DRAWABLE } from '../options.js';
import { colourOf } from '../output.js';
import {
  type LiveOutput,
  networkWarnings,
  printReady,
  type Subscribe,
  startLines,
  startScreen,
  subscribeToAll,
} from '../run-server.js';
import { aboutNow } from '../save-files.js';
import type { ExitStatus, Terminal } from '../terminal.js';
import type { MockToolFlags, MockToolPlan } from './plan.js';

/** Fixtures and handlers, and warnings from reading them. */
export interface Sources extends Pick<MockToolOptions, 'fixtures' | 'handlers' | 'middleware'> {
  readonly warnings?: readonly string[];
}

export interface Reloadable extends Pick<MockTool, 'verify'> {
  replaceFixtures(fixtures: FixtureSet): Promise<void>;
}

/** A mock that is up, whichever protocol it speaks. */
export interface RunningMock {
  readonly tool: Reloadable;
  /** Environment of the command after `--`. */
  readonly env: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
  /** Resolves when the only client has gone, as on stdio; else never. */
  readonly over: Promise<void>;
  /** Prints where the mock is, and then what happens. @param reload for the key of the screen */
  startOutput(reload: () => void): Promise<LiveOutput>;
  close(): Promise<void>;
  /** After the mock is closed: not 0 if the mock itself failed. */
  status(): ExitStatus;
}

/** @param url base URL of the mock */
export function startWarnings(
  { host, allowHost = [] }: Pick<MockToolFlags, 'host' | 'allowHost'>,
  url: string,
  fixtures: FixtureSet | undefined,
): string[] {
  const open = networkWarnings({ host });
  if (!fixtures) return open;
  const hosts = [new URL(url).host, ...allowHost];
  return [...open, ...consentWarnings(hosts, fixtures), ...fixtureWarnings(fixtures)];
}

/** Warns of fixtures that never match; they may be intended, so they are not errors. */
export function fixtureWarnings({ fixtures }: Pick<FixtureSet, 'fixtures'>): string[] {
  return overshadowed(fixtures).map(({ fixture: { id, place }, by }) => {
    const where = id === place ? '' : ` (${place})`;
    return visibleLine(
      `fixture ${id} never matches: ${by.id} comes before it and matches the same calls${where}`,
    );
  });
}

/** The consent page has no https, so its `auth_url` is valid on loopback only (TOOL-OAUTH). */
function consentWarnings(hosts: readonly string[], fixtures: FixtureSet): string[] {
  const [remote] = hosts.filter(host => !isLoopback(parseHost(host)?.name ?? ''));
  const isOwnPage = fixtures.fixtures.some(fixture =>
    stepsOf(fixture).some(step => step.kind === 'oauth' && step.oauth.auth_url === undefined),
  );
  if (remote === undefined || !isOwnPage) return [];
  return [
    `runtimes that call the mock as ${visibleLine(remote)} must refuse the auth_url of its consent page, which is http: and not on loopback (TOOL-OAUTH); give the oauth step an https auth_url`,
  ];
}

export async function startOutput(
  tool: MockTool,
  plan: MockToolPlan,
  terminal: Terminal,
  reload: () => void,
): Promise<LiveOutput> {
  const { port, url, seed, toolset } = tool;
  const isScreen = plan.output === 'ui';
  if (!isScreen)
    printReady({ port, url, seed }, `mock-tool ${toolset.name} at ${url} (seed ${seed})`, terminal, plan);
  const output = isScreen
    ? await screenOutput(tool, plan, terminal, reload)
    : await lineOutput(tool, plan, terminal);
  if (tool.resumed > 0) output.notice(`calls resumed from the journal: ${tool.resumed}`);
  return output;
}

/** Prints lines for people, or every event as JSON. */
export async function lineOutput(
  tool: Pick<MockTool, 'events' | 'subscribe'>,
  { output, flags, command }: MockToolPlan,
  terminal: Terminal,
): Promise<LiveOutput> {
  const redactor = callbackSecrets();
  const subscribe = subscribeToAll(tool);
  const learning: Subscribe = listener =>
    subscribe(event => {
      redactor.learn(event);
      listener(unread(event));
    });
  return startLines(
    {
      ...{ output, flags, command, redactor },
      subscribe: output === 'ndjson' ? learning : subscribe,
      about: aboutNow('tool'),
      printer: async (stream, level) =>
        (await import('../../render/outputs/server-plain.js')).mockPlain(stream, { level }),
    },
    terminal,
  );
}

async function screenOutput(
  tool: MockTool,
  { flags }: MockToolPlan,
  terminal: Terminal,
  reload: () => void,
): Promise<LiveOutput> {
  const { mockScreen } = await import('../../tui/mock/screen.js');
  const { stdin, stdout } = terminal;
  const shown = {
    url: tool.url,
    seed: tool.seed,
    get name() {
      return tool.toolset.name;
    },
    get fixtures() {
      return tool.verify().fixtures.length;
    },
  };
  const controls = {
    pause: () => tool.pause(),
    resume: () => tool.resume(),
    redeliver: (key: string) => tool.redeliver(key),
    fire: (id: string, groupId: string) => tool.fire(id, groupId),
    reload,
  };
  return startScreen(
    quit =>
      mockScreen({
        tool: shown,
        subscribe: subscribeToAll(tool),
        controls: { ...controls, quit },
        supports: new Set(DRAWABLE),
        ...{ stdin, stdout },
        clock: systemClock,
        level: colourOf(stdout, flags, terminal),
      }),
    terminal,
  );
}
