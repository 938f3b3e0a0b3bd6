/**
 * Runtimes that are broken in one way each, by the one requirement that this breaks: what the runtime does, and the
 * methods of the example runtime that differ. The object of a fault stands between the runtime and its class, so that
 * `super` is the right runtime.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { Runtime } from '../../../fixtures/runtimes/node/runtime.mjs';
import { CALL_FAULTS } from './call-faults.mjs';
import { CONVERSATION_FAULTS } from './conversation-faults.mjs';

/** How long to wait for an answer at least, in milliseconds: many runtimes share the process of a test. */
const MIN_LIMIT = 1_500;

/** The right runtime. */
export class PatientRuntime extends Runtime {
  post(url, body, limit) {
    return super.post(url, body, Math.max(limit, MIN_LIMIT));
  }
}

const TYPES = ['tool_result', 'oauth', 'user_choice', 'subscription_event', 'view_update'];

const accepts = status => ({
  isAccepted(each) {
    return each === status || super.isAccepted(each);
  },
});

/** Ignores some callbacks as it should, and tells the tool that they are right. */
const answers200 = reason => ({
  async receive(request) {
    return super.receive(request).catch(error => {
      if (reason.test(error.message)) return 200;
      throw error;
    });
  },
});

const changesText = change => ({
  modelText(result) {
    return change(super.modelText(result));
  },
});

/** Reads the body of an acknowledgement, which a runtime does not read. `judge` returns the status that it stands for. */
const readsAcknowledgements = judge => ({
  async post(url, body, limit) {
    if (!('operation' in body)) return super.post(url, body, limit);
    const request = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(Math.max(limit, MIN_LIMIT)),
    };
    try {
      const answer = await fetch(url, request);
      return answer.status === 200 ? judge(await answer.text(), this) : answer.status;
    } catch (error) {
      return error.name === 'TimeoutError' ? 'no answer in time' : 'unreachable';
    }
  },
});

const jsonIn = text => {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
};

const BROKEN = {
  'RT-OP': {
    'dispatches-unknown-operations': {
      find(operation) {
        const toolsets = this.servers.map(({ toolset }) => toolset);
        const isUnknown = toolsets.every(toolset => toolset?.tools.every(({ name }) => name !== operation));
        if (!isUnknown) return super.find(operation);
        return { tool: { name: operation, inputSchema: {} }, endpoint: toolsets[0].endpoint };
      },
    },
  },
  'RT-ARGS': { 'does-not-validate-arguments': { argumentFault: () => null } },
  'RT-ID': {
    'reuses-the-id-of-a-finished-call': {
      invocation(call, ...rest) {
        const others = [...this.calls.values()].filter(each => each !== call);
        const used = others.filter(({ state }) => state !== 'done').map(({ sentId }) => sentId);
        const free = others.find(({ state, sentId }) => state === 'done' && !used.includes(sentId));
        call.sentId = free?.sentId ?? call.id;
        return { ...super.invocation(call, ...rest), id: call.sentId };
      },
      match({ group_id, id, tool_call_id }) {
        const isNamed = each => each.thread === group_id && each.sentId === (id ?? tool_call_id);
        const calls = [...this.calls.values()].filter(isNamed);
        return calls.find(({ state }) => state !== 'done') ?? calls.at(-1);
      },
      notify(path, body) {
        const { sentId: tool_call_id } = this.calls.get(JSON.stringify(Object.values(body))) ?? {};
        return super.notify(path, { ...body, ...(tool_call_id && { tool_call_id }) });
      },
    },
  },
  'RT-FIELDS': {
    'sends-no-group-id': {
      invocation(...call) {
        return { ...super.invocation(...call), group_id: undefined };
      },
    },
    'sends-no-reachable-callback-url': {
      invocation(...call) {
        return { ...super.invocation(...call), callback_url: 'http://127.0.0.1:9/callback' };
      },
    },
    'sends-invocations-as-text': {
      async post(url, body, limit) {
        if (!('operation' in body)) return super.post(url, body, limit);
        const headers = { 'content-type': 'text/plain' };
        const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }).catch(
          () => null,
        );
        return answer?.status ?? 'unreachable';
      },
    },
  },
  'RT-ANCESTORS': {
    'sends-no-ancestors': {
      invocation(...call) {
        return { ...super.invocation(...call), thread_ancestors: undefined };
      },
    },
    'sends-the-parent-first': {
      invocation(...call) {
        const { thread_ancestors: ancestors, ...invocation } = super.invocation(...call);
        return { ...invocation, thread_ancestors: ancestors?.toReversed() };
      },
    },
    'sends-only-the-parent': {
      invocation(...call) {
        const { thread_ancestors: ancestors, ...invocation } = super.invocation(...call);
        return { ...invocation, thread_ancestors: ancestors?.slice(-1) };
      },
    },
  },
  'RT-NON200': {
    'waits-after-404': accepts(404),
    'waits-after-201': accepts(201),
    'waits-after-204': accepts(204),
    'waits-after-302': accepts(302),
    'waits-after-201-until-the-end': {
      isAccepted: status => status === 200 || status === 201,
      async close() {
        for (const call of this.openCalls()) await this.fail(call, 'the session ended');
        await super.close();
      },
    },
    'hides-500-from-the-model': {
      async fail(call, reason) {
        if (!/\(5\d\d\)$/.test(reason)) await super.fail(call, reason);
      },
    },
  },
  'RT-NORETRY': {
    'retries-4xx': {
      mayRetry(status) {
        return super.mayRetry(status) || status >= 400;
      },
    },
  },
  'RT-RETRY': {
    'never-retries': { mayRetry: () => false },
    // So few that a busy machine does not look like pauses.
    'retries-without-pause': { pauses: () => [0, 0] },
    'sends-again-after-a-body': readsAcknowledgements(text => (text === '' ? 200 : 'unreachable')),
    'retries-with-equal-pauses': { pauses: () => [500, 500, 500] },
  },
  'RT-TOOLSET': {
    'loads-the-valid-tools-of-an-invalid-toolset': {
      readToolset(toolset) {
        const tools = toolset.tools.filter(tool => {
          try {
            return Boolean(super.readToolset({ ...toolset, tools: [tool] }));
          } catch {
            return false;
          }
        });
        return { ...toolset, tools };
      },
    },
    'takes-the-first-of-two-equal-names': {
      find(operation) {
        const isNamed = ({ name }) => name === operation;
        const { toolset } = this.servers.find(each => each.toolset?.tools.some(isNamed)) ?? {};
        return toolset ? { endpoint: toolset.endpoint, tool: toolset.tools.find(isNamed) } : null;
      },
    },
  },
  'RT-NOTIFY': {
    'sends-close-only-to-the-first-server': {
      async notify(path, body) {
        if (path !== '/close_thread') return super.notify(path, body);
        await this.post(this.servers[0].url + path, body, 1_000);
      },
    },
    'waits-for-one-server-after-the-other': {
      async notify(path, body) {
        for (const { url } of this.servers) await this.post(url + path, body, 2_000);
      },
    },
    'retries-notices': {
      async notify(path, body) {
        const send = async ({ url }) => {
          for (const pause of [50, 100]) {
            if ((await this.post(url + path, body, 500)) === 200) return;
            await wait(pause);
          }
        };
        await Promise.all(this.servers.map(send));
      },
    },
    'sends-wrong-fields-in-notices': {
      notify(path, { thread_id: group_id, tool_call_id: id }) {
        return super.notify(path, { group_id, id });
      },
    },
    'sends-no-notices': { async notify() {} },
    'cancels-all-subscriptions-for-one': {
      cancelSubscription() {
        return this.cancel();
      },
    },
  },
  'RT-CACHE': {
    'fetches-the-toolset-for-every-call': {
      async invoke(...call) {
        const load = async ({ url }) => ({ url, toolset: await this.discover(url) });
        this.servers = await Promise.all(this.servers.map(load));
        await super.invoke(...call);
      },
    },
  },
  'RT-MIGRATE': {
    'migrates-servers-that-do-not-declare-it': {
      migratingServers() {
        return this.servers;
      },
    },
    'goes-on-after-a-failed-migration': { isMigrated: () => true },
    'does-not-wait-for-the-migration': {
      async post(url, body, limit) {
        const sent = super.post(url, body, limit);
        return url.endsWith('/migrate') ? 200 : sent;
      },
    },
  },
  'RT-ACK': {
    'answers-callbacks-with-202': {
      async receive(request) {
        const status = await super.receive(request);
        return status === 200 ? 202 : status;
      },
    },
    'refuses-late-results': {
      async onResult(call, result) {
        return call.state === 'canceled' ? 404 : super.onResult(call, result);
      },
    },
  },
  'RT-AUDIT': {
    'logs-nothing': { audit() {} },
    'logs-no-times': {
      audit(entry) {
        if (this.log) appendFileSync(this.log, `${JSON.stringify(entry)}\n`);
      },
    },
    'logs-no-outcomes': {
      audit({ operation, outcome }) {
        if (operation && outcome.startsWith('acknowledgement')) super.audit({ operation });
      },
    },
    'logs-no-discarded-results': {
      audit(entry) {
        if (entry.operation) super.audit(entry);
      },
    },
  },
  'RT-VALIDATE': {
    'accepts-unknown-types': {
      callbackFault(callback) {
        return TYPES.includes(callback?.type) ? super.callbackFault(callback) : null;
      },
      async handle(callback, digest) {
        return TYPES.includes(callback.type) ? super.handle(callback, digest) : 200;
      },
    },
    'accepts-malformed-callbacks': answers200(/invalid callback: (?!type$)/),
    'shows-malformed-views': {
      callbackFault(callback) {
        return callback?.type === 'view_update' && callback.group_id ? null : super.callbackFault(callback);
      },
      async onView(view) {
        const { content = {} } = view;
        return super.onView({ ...view, view_type: String(view.view_type), content: Object(content) });
      },
    },
    'processes-malformed-callbacks': {
      callbackFault(callback) {
        return TYPES.includes(callback?.type) ? null : super.callbackFault(callback);
      },
      modelText(result) {
        return String(super.modelText(result));
      },
    },
    'answers-200-to-what-is-not-json': answers200(/not JSON/),
    'accepts-any-content-type': {
      checkHead({ url, method }) {
        super.checkHead({ url, method, headers: { 'content-type': 'application/json' } });
      },
    },
  },
  'RT-MATCH': {
    'accepts-a-foreign-id': {
      match(callback) {
        const ofResult = callback.type === 'tool_result' && callback.group_id;
        const calls = [...this.calls.values()].filter(({ thread }) => thread === ofResult);
        return super.match(callback) ?? calls.find(({ state }) => state === 'pending');
      },
    },
    'accepts-a-foreign-thread': {
      isKnownThread: () => true,
      match(callback) {
        const isResult = callback.type === 'tool_result';
        return super.match(isResult ? { ...callback, group_id: this.thread } : callback);
      },
      async onView(view) {
        return this.threads.has(view.group_id) ? super.onView(view) : 404;
      },
    },
  },
  'RT-DUP': {
    'takes-a-second-result-for-the-call': {
      awaitsResult: ({ state }) => state === 'pending' || state === 'done',
    },
    'processes-a-duplicate-twice': {
      async handle(callback, digest) {
        const call = this.match(callback);
        if (callback.type === 'tool_result' && call?.state === 'done' && call.digests.has(digest)) {
          call.state = 'pending';
          call.digests.clear();
        }
        return super.handle(callback, digest);
      },
    },
    'refuses-a-duplicate': {
      async handle(callback, digest) {
        const { digests } = this.match(callback) ?? {};
        const isSeries = ['subscription_event', 'view_update'].includes(callback.type);
        return !isSeries && digests?.has(digest) ? 409 : super.handle(callback, digest);
      },
    },
  },
  'RT-CANCEL': {
    'takes-a-late-result-after-a-cancel': {
      awaitsResult: ({ state }) => state === 'pending' || state === 'canceled',
    },
  },
  'RT-PENDING': {
    'sends-the-invocation-again-after-a-question': {
      async dispatch(call, ...rest) {
        call.sendAgain = () => this.post(rest[0], rest[1], 1_000);
        await super.dispatch(call, ...rest);
      },
      async onQuestion(call, question) {
        call.sendAgain();
        return super.onQuestion(call, question);
      },
      async onConsent(call, message) {
        call.sendAgain();
        return super.onConsent(call, message);
      },
    },
    'takes-a-consent-for-the-result': {
      async onConsent(call, message) {
        await super.onConsent(call, message);
        call.state = 'subscribed'; // no longer pending, but can be canceled
        await this.agent.model(call.id, 'The user must sign in first.');
        return 200;
      },
    },
    'fails-the-call-when-the-selection-fails': {
      async select(selected) {
        const [open] = this.questions;
        await super.select(selected);
        if (this.questions.includes(open)) await this.fail(open.call, 'the selection was refused');
      },
    },
  },
  'RT-SERIAL': {
    'fails-when-two-callbacks-come-at-once': {
      async inTurn(_, work) {
        if (this.isBusy) return 500;
        this.isBusy = true;
        await wait(30);
        this.isBusy = false;
        return work();
      },
    },
    'handles-the-messages-of-a-thread-in-any-order': {
      async inTurn(_, work) {
        this.turn = (this.turn ?? 0) + 1;
        if (this.turn % 2 === 1) await wait(1_500);
        return work();
      },
    },
  },
  'RT-TEXT': {
    'takes-the-acknowledgement-for-the-result': readsAcknowledgements(async (text, runtime) => {
      const message = jsonIn(text);
      if (message.type === 'tool_result') await runtime.onResult(runtime.match(message), message);
      return 200;
    }),
    'fails-after-an-error-in-the-acknowledgement': readsAcknowledgements(text =>
      jsonIn(text).error ? 'an error' : 200,
    ),
    'trims-the-text': changesText(text => text.trim()),
    'cuts-a-long-text': changesText(text => text.slice(0, 10_000)),
    'drops-control-characters': changesText(text => text.replace(/[\p{Cc}\p{Cf}]/gu, '')),
    'gives-the-model-what-the-user-sees': {
      modelText(result) {
        const short = result.display_as?.findLast(({ type }) => type === 'text');
        return short?.content ?? super.modelText(result);
      },
    },
    'gives-the-model-object-object': {
      modelText(result) {
        return result.content?.length ? result.content.map(String).join('\n') : super.modelText(result);
      },
    },
    'ignores-content': {
      modelText(result) {
        return result.text ?? super.modelText(result);
      },
    },
    'leaves-out-images': {
      modelText(result) {
        const content = result.content?.filter(({ type }) => type === 'text');
        return content?.length ? super.modelText({ ...result, content }) : (result.text ?? '');
      },
    },
  },
  'RT-DISPLAY': {
    'shows-the-last-segment': {
      shownSegment(result) {
        return super.shownSegment({ ...result, display_as: result.display_as?.toReversed() });
      },
    },
    'refuses-an-unknown-segment': {
      async onResult(call, result) {
        const isUnknown = ({ type }) => !['text', 'diff', 'image'].includes(type);
        return result.display_as?.some(isUnknown) ? 400 : super.onResult(call, result);
      },
    },
    'shows-an-unknown-segment': {
      shownSegment(result) {
        return result.display_as?.[0] ?? super.shownSegment(result);
      },
    },
  },
};

/** By name: the requirement that the fault breaks, and the methods that differ. */
export const FAULTS = Object.fromEntries(
  [BROKEN, CALL_FAULTS, CONVERSATION_FAULTS]
    .flatMap(Object.entries)
    .flatMap(([breaks, faults]) =>
      Object.entries(faults).map(([name, methods]) => [
        name,
        { breaks, methods: Object.setPrototypeOf(methods, PatientRuntime.prototype) },
      ]),
    ),
);
