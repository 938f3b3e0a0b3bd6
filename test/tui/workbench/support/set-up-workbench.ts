import { CallLog } from '../../../../src/events/call-log.js';
import type { Fact } from '../../../../src/events/events.js';
import { createLog } from '../../../../src/events/log.js';
import type { Clock } from '../../../../src/system/clock.js';
import type { ActionResult } from '../../../../src/tui/screen/effects.js';
import type { Controls, Server, SessionOptions, Source } from '../../../../src/tui/workbench/model.js';
import { createRedactor } from '../../../../src/util/redact.js';
import { fakeClock } from '../../../support/fake-clock.js';

type Ready = Extract<Server['state'], { kind: 'ready' }>;

type Tool = Ready['toolset']['tools'][number];

export const ENDPOINT = 'http://127.0.0.1:3001/invoke';

/** A tool as its server describes it. */
export function toolOf(name: string, fields: Partial<Tool> = {}): Tool {
  return { name, description: `What ${name} does`, inputSchema: { type: 'object' }, ...fields };
}

/** A server with these tools. */
export function readyServer(tools: readonly Tool[], fields: Partial<Ready['toolset']> = {}): Server {
  const toolset = {
    name: 'workshop',
    endpoint: ENDPOINT,
    needsMigration: false,
    tools: [...tools],
    ...fields,
  };
  const state = { kind: 'ready', base: 'http://127.0.0.1:3001', toolset, notes: [] } as const;
  return { id: 's1', about: 'http://127.0.0.1:3001', isConfigured: false, state };
}

export interface SetupOptions {
  readonly servers?: readonly Server[];
  readonly recent?: readonly string[];
  readonly controls?: Partial<Controls>;
  readonly start?: SessionOptions['start'];
  readonly clock?: Clock;
  readonly level?: SessionOptions['level'];
  /** Whose a live call is; the server s1's, by default. */
  readonly serverOf?: SessionOptions['model']['serverOf'];
  /** Live calls that were sent without validation. */
  readonly unvalidated?: readonly string[];
  /** Names of files that were opened, each without a call. */
  readonly opened?: readonly string[];
}

/** The model and the controls of a workbench, made up: a test emits events; actions are only noted in `asked`. */
export function setUpWorkbench({ clock = fakeClock(), level = 0, start = {}, ...more }: SetupOptions = {}) {
  const log = createLog(clock.now);
  const callLog = new CallLog();
  log.subscribe(callLog.apply);
  const asked: string[] = [];
  const live: Source = { id: 0, name: 'this session', callLog, isLive: true, redactor: createRedactor() };
  const ids: string[] = [];
  const opened = (name: string): Source => {
    if (!ids.includes(name)) ids.push(name);
    const events = { callLog: new CallLog({ isSaved: true }), redactor: createRedactor() };
    return { id: ids.indexOf(name) + 1, name, ...events, isLive: false };
  };
  const model = {
    servers: more.servers ?? [],
    recent: more.recent ?? [],
    sources: [live, ...(more.opened ?? []).map(opened)],
    serverOf: more.serverOf ?? (() => 's1'),
    isUnvalidated: (key: string) => more.unvalidated?.includes(key) ?? false,
  };
  const reopen = (name: string) => {
    model.sources = [...model.sources.filter(each => each.name !== name), opened(name)];
  };
  const options: SessionOptions = {
    model,
    controls: { ...notingControls(asked, reopen), ...more.controls },
    clock,
    level,
    supports: new Set(['text', 'diff']),
    start,
  };
  return {
    ...{ log, model, asked, options },
    /** Emits these facts now. */
    emit(facts: readonly Fact[]) {
      for (const fact of facts) log.emit({ ...fact });
    },
  };
}

/** Notes each action in words: `cancel call_1`. */
function notingControls(asked: string[], reopen: (name: string) => void): Controls {
  const note = (...words: readonly unknown[]) => void asked.push(words.map(wordOf).join(' '));
  const done = (what: string): ActionResult => ({ text: `${what}: done`, isBad: false });
  const noted = <Came>(came: Came, ...words: readonly unknown[]): Came => {
    note(...words);
    return came;
  };
  return {
    open: target => noted({ server: 's1' }, 'open', target),
    load: server => note('load', server),
    restart: server => note('restart', server),
    remove: server => note('remove', server),
    needsConsent: () => false,
    run: async ({ operation, arguments: args }, { validates }) => {
      note('run', operation, args, ...(validates ? [] : ['unchecked']));
      return { kind: 'refused', reason: 'no one is there' };
    },
    decline: async ({ operation }) => noted(done('decline'), 'decline', operation),
    answer: (...words) => noted(null, 'answer', ...words),
    cancel: async key => noted(done('cancel'), 'cancel', key),
    visit: async url => noted(done('visit'), 'visit', url),
    asCurl: key => ({ text: `curl ${key}`, gaps: ['callback_url'] }),
    asCommand: key => ({ text: `protocol-cli invoke ${key}`, gaps: [] }),
    copy: text => noted(done('copy'), 'copy', text),
    saveFixture: async (...words) => noted(done('fixture'), 'saveFixture', ...words),
    saveTranscript: async path => noted(done('transcript'), 'saveTranscript', path),
    async openTranscript(path) {
      reopen(path);
      return noted(done('open'), 'openTranscript', path);
    },
    paths: async () => [],
    freeName: async name => name,
    quit: () => note('quit'),
  };
}

function wordOf(word: unknown): string {
  return typeof word === 'string' ? word : JSON.stringify(word);
}
