import { randomUUID } from 'node:crypto';
import type { Callback, InvokeOptions, PendingCall, Runtime } from '../../peers/runtime.mjs';
import type { PeerName } from '../support/peers.js';

/** What a runtime lives through with one of the peers; it asks for the same each time, and has ids of its own. */
type Session = (say: Speaker) => Promise<void>;

/** A session with each tool, in which it does all that it can. */
export const SESSIONS: Readonly<Record<PeerName, Session>> = {
  async plain({ result, visit, cancel, close, threadOf }) {
    const main = { groupId: newId() };
    await result('edit_file', { path: 'src/main.rs', replace: 2 }, { ...main, callId: newId() });
    await Promise.all(['one', 'two', 'three'].map(text => result('echo', { text }, main)));
    await result('json', {}, main);
    await result('fail', {}, main);
    for (const kind of ['denied', 'canceled', 'timeout', 'error']) await result('lmkit', { kind }, main);
    for (const afterwards of ['keep', 'clear']) await result('paint', { afterwards }, main);
    for (const decision of ['grant', 'refuse'] as const) await visit('sign_in', {}, decision, main);
    const watched = await result('watch', { events: 3, every_ms: 5, associative: 'every_second' }, main);
    await watched.waitFor(isFinal);
    await cancel(await result('watch', { every_ms: 60_000 }, main));
    await close(threadOf(await result('watch', { every_ms: 60_000 })));
    const child = { groupId: newId(), ancestors: [main.groupId] };
    await result('echo', { text: 'one' }, child);
    await close(main.groupId);
    await result('echo', { text: 'two' }, main);
  },

  async stdlib({ result, visit, choose, cancel, close, threadOf, call }) {
    const main = { groupId: newId() };
    await result('edit_file', { path: 'a.txt' }, { ...main, callId: null });
    for (const selected of [1, 2, 0]) await choose('ask', selected, main);
    await visit('login', { ms: 30 }, 'grant', main);
    await result('view', {}, main);
    await (await result('subscribe', { ms: 5 }, main)).waitFor(isFinal);
    const watched = await result('subscribe', { ms: 400 });
    await watched.waitFor('subscription_event');
    await cancel(watched);
    await close(threadOf(watched));
    const work = await call('work', { ms: 60_000, when_cancelled: 'say_so' }, main);
    await cancel(work);
    await work.result();
    await result('ancestors', {}, main);
    for (const ancestors of [['root'], ['root', 'branch']]) await result('ancestors', {}, { ancestors });
    await close(main.groupId);
  },

  async odd({ result, call }) {
    const main = { groupId: newId() };
    for (const operation of ODDITIES) await result(operation, {}, main);
    await result('late_ms', { ms: 50 }, main);
    const two = await result('two_results', {}, main);
    await two.waitFor(({ raw }) => raw.includes('second result'));
    for (const operation of ['ack_400', 'ack_503_once', 'ack_reset']) await call(operation, {}, main);
  },
};

/** What is odd but has one result. */
const ODDITIES = [
  ...['before_ack', 'delivered_twice', 'extra_fields', 'content_items', 'content_and_text', 'empty_text'],
  ...['hostile_text', 'unknown_segments', 'unknown_only', 'seed_diff', 'text_first'],
  ...['bad_diff_then_text', 'two_files_diff', 'unknown_view', 'no_display', 'then_right', 'lone_surrogate'],
];

/** What a runtime can do with a tool at one address; each comes back once it is over, as far as it is. */
export type Speaker = ReturnType<typeof speakerTo>;

export function speakerTo(runtime: Runtime, url: string) {
  const call = (operation: string, args: Record<string, unknown>, options?: InvokeOptions) =>
    runtime.invoke(url, operation, args, options);
  const result = async (...words: Parameters<typeof call>) => {
    const pending = await call(...words);
    await pending.result();
    return pending;
  };
  return {
    call,
    result,
    async choose(operation: string, selected: number, options?: InvokeOptions) {
      const pending = await call(operation, {}, options);
      await pending.waitFor('user_choice');
      await runtime.choose(pending, selected);
      await pending.result();
    },
    async visit(
      operation: string,
      args: Record<string, unknown>,
      decision: 'grant' | 'refuse',
      options?: InvokeOptions,
    ) {
      const pending = await call(operation, args, options);
      const { body } = await pending.waitFor('oauth');
      const url = new URL(String(body?.['auth_url']));
      // No one goes elsewhere from here: there it is granted without us.
      if (url.hostname === '127.0.0.1') await runtime.visitConsent(url.href, decision);
      await pending.result();
    },
    cancel: ({ invocation: { group_id, id } }: PendingCall) => runtime.cancel(url, group_id, id),
    close: (thread: string) => runtime.closeThread(url, thread),
    threadOf: ({ invocation }: PendingCall) => invocation.group_id,
  };
}

/** All that a runtime logged, call by call: what it was reported, and what it answered. Its ids are `<id>`, the URLs are left out. */
export function logOf({ calls }: Runtime): readonly string[] {
  return calls.flatMap(call => {
    const { invocation, ack, callbacks, selections } = call;
    const unlike = withoutIds(invocation);
    return [
      `${invocation.operation} ${JSON.stringify(invocation.arguments)}: ${ack.status}`,
      ...callbacks.filter(isNew).map(({ body, status }) => `  ${unlike(inOrder(body))} ${status}`),
      ...selections.map(({ selected, status }) => `  chose ${selected}: ${status}`),
    ];
  });
}

/** The same bytes once more are another delivery of the same result. */
function isNew({ raw, body }: Callback, index: number, all: readonly Callback[]): boolean {
  return body?.['type'] !== 'tool_result' || all.findIndex(each => each.raw === raw) === index;
}

function withoutIds({ id, group_id, call_id }: PendingCall['invocation']) {
  const ids = [id, group_id, call_id].filter(each => typeof each === 'string');
  return (text: string) => ids.reduce((left, each) => left.replaceAll(each, '<id>'), text);
}

/** An object as JSON, whatever the order of its keys; addresses are of the tool that asks. */
function inOrder(body: Callback['body']): string {
  const entries = Object.entries(body ?? {}).filter(([name]) => !/^(response|auth)_url$/.test(name));
  return JSON.stringify(Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1))));
}

function isFinal({ body }: Callback): boolean {
  return body?.['final'] === true;
}

function newId(): string {
  return `session-${randomUUID()}`;
}
