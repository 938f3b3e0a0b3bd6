/**
 * What the protocol, HTTP and JSON allow, and right runtimes and drivers do, by name. `methods` stand between the example runtime and its
 * class, as those of faults.mjs; `lines` changes the lines of the driver. `disturbs`: the scenarios that it could disturb.
 */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request as startRequest } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { UnhurriedRuntime, WIRE } from './legal-wire.mjs';
import { runDriver } from './runtime.mjs';

const START = ['result', 'display', 'consent'];
const DISCOVERY = ['changing-toolset', 'duplicate-operations', 'invalid-toolsets', 'failing-discovery'];
const RETRIES = ['status-500', 'status-503', 'lost-acknowledgement', 'refusals'];
const FAILURES = ['refusals', 'status-500', 'unknown-operation', 'arguments', 'cancel', 'failed-migration'];
const CANCELS = [
  'cancel',
  'late-after-cancel',
  'consent-canceled',
  'subscription-canceled',
  'subscription-canceled-by-model',
];
const ENDS = ['close', 'cancel', 'slow-acknowledgement', 'child-threads', 'subscription'];
const SHOWN = ['display', 'choice', 'consent', 'view', 'view-types', 'at-once', 'subscription', 'cancel'];
const LINES = ['result', 'texts', 'content', 'choice', 'view'];

const doing = (disturbs, methods) => ({ disturbs, methods });

const schema = name => {
  const url = new URL(`../../../fixtures/${name}.schema.json`, import.meta.url);
  const formats = { uri: text => URL.canParse(text) };
  return new Ajv2020({ strict: false, formats }).compile(JSON.parse(readFileSync(url, 'utf8')));
};

/** What JSON Schema cannot say of a callback. */
const isBeyondSchema = ({ type, default: index, choices, auth_url: page }) =>
  (type === 'user_choice' && index >= choices.length) ||
  (type === 'oauth' && !/^https:|^http:\/\/(localhost|127\.)/.test(page));

const BEHAVIOUR = {
  'slow-imports': doing(START, {
    async open(urls) {
      await wait(6_000);
      await super.open(urls);
    },
  }),
  'slow-first-call': doing(START, {
    async dispatch(...call) {
      this.warmUp ??= wait(1_000);
      await this.warmUp;
      await super.dispatch(...call);
    },
  }),
  'paces-its-calls': doing(['parallel-calls', 'at-once', 'refusals', 'cancel'], {
    async dispatch(...call) {
      const turn = (this.lastTurn ?? Promise.resolve()).then(() => wait(60));
      this.lastTurn = turn;
      await turn;
      await super.dispatch(...call);
    },
  }),

  'reads-toolsets-twice': doing(DISCOVERY, {
    async discover(url) {
      await super.discover(url);
      return super.discover(url);
    },
  }),
  'reads-toolsets-at-the-first-call': doing([...DISCOVERY, 'close', 'migration'], {
    async open(urls) {
      await super.open([]);
      this.urls = urls;
    },
    async invoke(...call) {
      this.loaded ??= Promise.all(this.urls.map(async url => ({ url, toolset: await this.discover(url) })));
      this.servers = await this.loaded;
      await super.invoke(...call);
    },
  }),
  'reads-toolsets-in-turn': doing(DISCOVERY, {
    async discover(url) {
      const turn = (this.discovery ?? Promise.resolve()).then(() => super.discover(url));
      this.discovery = turn;
      return turn;
    },
  }),
  'reads-toolsets-again-after-errors': doing(DISCOVERY, {
    async discover(url) {
      for (const pause of [100, 200]) {
        const toolset = await super.discover(url);
        if (toolset) return toolset;
        await wait(pause);
      }
      return super.discover(url);
    },
  }),
  'reads-toolsets-again-to-migrate': doing(['migration', 'failed-migration'], {
    async migrate(destination) {
      const read = async ({ url }) => ({ url, toolset: await this.discover(url) });
      this.servers = await Promise.all(this.servers.map(read));
      await super.migrate(destination);
    },
  }),
  'notifies-only-servers-with-a-toolset': doing(['close', 'cancel', 'invalid-toolsets'], {
    async notify(...notice) {
      this.servers = this.servers.filter(({ toolset }) => toolset);
      await super.notify(...notice);
    },
  }),

  'odd-ids': doing(['result', 'wrong-ids', 'choice', 'cancel', 'subscription'], {
    newId: id => `Ruf „${id}“ / 50% <b>\\n?#`,
    async open(urls) {
      this.threads.delete(this.thread);
      this.thread = `Gespräch/${this.thread}?a=b&c#d`;
      this.threads.add(this.thread);
      await super.open(urls);
    },
  }),
  'long-ids': doing(['result', 'at-once', 'cancel'], { newId: id => `${id}_${'x'.repeat(400)}` }),
  'is-below-another-thread': doing(['child-threads', 'result', 'close'], {
    async open(urls) {
      this.ancestors = ['thread_of_the_root', 'thread_of_the_parent'];
      await super.open(urls);
    },
  }),

  'retries-once': doing(RETRIES, { pauses: () => [200] }),
  'retries-after-long-pauses': doing(RETRIES, { pauses: () => [1_000, 2_500] }),
  'retries-with-jitter': doing(RETRIES, {
    pauses: () => [60, 150, 300, 800].map(pause => pause * (1 + Math.random() / 4)),
  }),
  'retries-without-an-answer': doing(['slow-acknowledgement', 'lost-acknowledgement'], {
    limitFor(message, limit) {
      return 'operation' in message ? 2_000 : super.limitFor(message, limit); // only an invocation is sent again
    },
    mayRetry(status) {
      return status === 'no answer in time' || super.mayRetry(status);
    },
  }),
  'has-a-timeout': doing(
    ['slow-acknowledgement', 'lost-acknowledgement', 'late-after-cancel', 'early-and-late'],
    {
      async dispatch(call, ...rest) {
        await super.dispatch(call, ...rest);
        await wait(2_000);
        const isAsking = this.questions.some(question => question.call === call) || call.isHeld;
        if (call.state === 'pending' && !isAsking) await this.fail(call, 'no result within 2 s');
      },
      async onConsent(call, message) {
        call.isHeld = true;
        return super.onConsent(call, message);
      },
      async onQuestion(call, question) {
        call.isHeld = true;
        return super.onQuestion(call, question);
      },
    },
  ),

  'tells-the-model-of-failures': doing(FAILURES, {
    async open(urls) {
      const { model, failure, ...others } = this.agent;
      const tell = (id, text) => (id === undefined ? failure(id, text) : model(id, text));
      this.agent = { ...others, model, failure: tell };
      await super.open(urls);
    },
  }),
  'is-silent-about-canceled-calls': doing(CANCELS, {
    async cancelCall(call) {
      if (call.state === 'pending') call.state = 'subscribed'; // only pending calls are reported to the model
      await super.cancelCall(call);
    },
  }),
  'cancels-at-the-server-of-the-call': doing(CANCELS, {
    async notify(path, body) {
      const { operation } = this.calls.get(JSON.stringify([body.thread_id, body.tool_call_id])) ?? {};
      const owns = ({ toolset }) => toolset?.tools.some(({ name }) => name === operation);
      const servers = operation ? this.servers.filter(owns) : this.servers;
      await Promise.all(servers.map(({ url }) => this.post(url + path, body, 500)));
    },
  }),
  'cancels-before-it-closes': doing([...ENDS, 'consent'], {
    async close() {
      await this.cancel();
      await super.close();
    },
  }),
  'closes-without-waiting': doing(ENDS, {
    async notify(path, body) {
      if (path !== '/close_thread') return super.notify(path, body);
      const headers = { 'content-type': 'application/json' };
      const send = async ({ url }) => {
        const request = startRequest(url + path, { method: 'POST', headers, agent: false });
        request.on('error', () => {}).end(JSON.stringify(body));
        await once(request, 'finish'); // the process may end as soon as the request is sent
      };
      await Promise.all(this.servers.map(send));
    },
  }),
  'stops-listening-before-it-closes': doing(ENDS, {
    async close() {
      this.listener.close();
      this.listener.closeAllConnections();
      await super.close();
    },
  }),

  'works-after-the-answer': doing(
    ['at-once', 'duplicates', 'wrong-ids', 'display', 'view', 'subscription-foreign'],
    {
      async inTurn(thread, work) {
        const done = super.inTurn(thread, () => wait(80).then(work));
        done.catch(() => {});
        return 200;
      },
    },
  ),
  'accepts-and-ignores-what-matches-no-call': doing(
    ['wrong-ids', 'subscription-foreign', 'subscription-canceled'],
    {
      async receive(request) {
        return super.receive(request).catch(error => {
          if (error.status === 404) return 200;
          throw error;
        });
      },
    },
  ),
  'several-callback-servers': doing(['parallel-calls', 'at-once', 'wrong-ids', 'choice', 'close'], {
    async open(urls) {
      await super.open(urls);
      const listen = (request, response) => this.listen(request, response);
      this.others = [createServer(listen), createServer(listen)];
      for (const server of this.others) await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
    },
    invocation(...call) {
      const { port } = this.others[this.calls.size % 2].address();
      const { callback_url, ...others } = super.invocation(...call);
      const url = new URL(callback_url);
      url.port = port;
      return { ...others, callback_url: url.href };
    },
    async close() {
      await super.close();
      for (const server of this.others) {
        server.close();
        server.closeAllConnections();
      }
    },
  }),
  'a-callback-url-for-each-call': doing(['parallel-calls', 'at-once', 'wrong-ids', 'choice', 'duplicates'], {
    invocation(call, ...rest) {
      const { callback_url, ...others } = super.invocation(call, ...rest);
      const query = `of=${encodeURIComponent(call.id)}&path=a%2fb/&empty&plus=1+1`;
      return { ...others, callback_url: `${callback_url}/${encodeURIComponent(call.id)}/;v=1?${query}` };
    },
    checkHead({ url, method, headers }) {
      const isOwn = url.startsWith(`${this.path}/`);
      super.checkHead({ method, headers, url: isOwn ? this.path : url });
    },
  }),
  'localhost-callbacks': doing(['result', 'at-once', 'choice'], {
    invocation(...call) {
      const { callback_url, ...others } = super.invocation(...call);
      return { ...others, callback_url: callback_url.replace('127.0.0.1', 'LOCALHOST') };
    },
  }),
  'validates-with-the-published-schema': doing(
    ['result', 'content', 'display', 'invalid-results', 'invalid-questions', 'invalid-events', 'not-json'],
    {
      callbackFault(callback) {
        this.validate ??= schema('callbacks');
        if (!this.validate(callback)) return `the body${this.validate.errors[0].instancePath}`;
        return isBeyondSchema(callback) ? 'default or auth_url' : null;
      },
    },
  ),
  'refuses-malformed-segments': doing(['display'], {
    async onResult(call, result) {
      const isMalformed = ({ type, content }) => type === 'diff' && typeof content?.patch !== 'string';
      return result.display_as?.some(isMalformed) ? 400 : super.onResult(call, result);
    },
  }),

  'shows-only-texts': doing(['display', 'content'], {
    shownSegment: ({ text }) => ({ type: 'text', content: text }),
  }),
  'shows-images': doing(['display', 'content'], {
    shownSegment(result) {
      const [first] = result.display_as ?? [];
      return first?.type === 'image' ? first : super.shownSegment(result);
    },
  }),
  'describes-images-in-other-words': doing(['content'], {
    modelText({ text, content }) {
      if (!content?.length) return text;
      return content.map(item => (item.type === 'text' ? item.text : '(an image)')).join('\n');
    },
  }),
  'recognizes-repetitions-by-their-ids': doing(['duplicates', 'choice-repeated', 'early-and-late'], {
    isRepeated(call, { type }) {
      call.kinds ??= new Set();
      const isSeries = type === 'subscription_event';
      const isKnown = call.kinds.has(type);
      call.kinds.add(type);
      return !isSeries && isKnown;
    },
  }),
  'shows-one-question-at-a-time': doing(['choices-open', 'choice', 'choice-repeated'], {
    async onQuestion(call, question) {
      if (call.state !== 'pending') return 200;
      this.questions.push({ call, question });
      if (this.questions.length === 1) await this.agent.question(call.id, question.prompt, question.choices);
      return 200;
    },
    async select(selected) {
      await super.select(selected);
      const [next] = this.questions;
      if (next) await this.agent.question(next.call.id, next.question.prompt, next.question.choices);
    },
  }),
  'asks-in-visible-characters': doing(['choice-hostile', 'choice'], {
    async open(urls) {
      const visible = text => text.replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd');
      const { question, ...others } = this.agent;
      const ask = (id, prompt, choices) => question(id, visible(prompt), choices.map(visible));
      this.agent = { ...others, question: ask };
      await super.open(urls);
    },
  }),
  'sends-refused-selections-again': doing(['choice-refused', 'choice'], {
    async post(url, body, limit) {
      let status = await super.post(url, body, limit);
      for (let retry = 0; 'selected' in body && status !== 200 && retry < 2; retry++) {
        await wait(100 * (retry + 1));
        status = await super.post(url, body, limit);
      }
      return status;
    },
  }),
  'ignores-foreign-events-with-200': doing(
    ['subscription-foreign', 'subscription-canceled', 'subscription'],
    {
      async onEvent(call, event) {
        return this.isSubscribed(call) ? super.onEvent(call, event) : 200;
      },
    },
  ),
  'gives-plain-events-to-child-threads': doing(['subscription', 'at-once', 'subscription-canceled'], {
    async onEvent(call, event) {
      if (event.associative || !this.isSubscribed(call)) return super.onEvent(call, event);
      if (event.final) call.state = 'ended';
      this.isSlow = !this.isSlow;
      void wait(this.isSlow ? 300 : 0).then(() => this.agent.model(call.id, event.text));
      return 200;
    },
  }),
  'clears-views-with-an-empty-object': doing(['view'], {
    async open(urls) {
      const { view, ...others } = this.agent;
      this.agent = { ...others, view: (type, content) => view(type, content ?? {}) };
      await super.open(urls);
    },
  }),
  'draws-views-late': doing(['view', 'view-types'], {
    async open(urls) {
      const { view, ...others } = this.agent;
      const drawing = new Map();
      const draw = (type, content) => {
        clearTimeout(drawing.get(type));
        drawing.set(type, setTimeout(view, 120, type, content));
      };
      this.agent = { ...others, view: draw };
      await super.open(urls);
    },
  }),
  'gives-no-ids': doing(['result', 'parallel-calls', 'duplicates', 'consent', 'choice', 'status-500'], {
    async open(urls) {
      const { view, migrated, ...named } = this.agent;
      const anonymous = Object.entries(named).map(([name, show]) => [
        name,
        (_, ...rest) => show(undefined, ...rest),
      ]);
      this.agent = { view, migrated, ...Object.fromEntries(anonymous) };
      await super.open(urls);
    },
  }),
};

const writing = (disturbs, lines) => ({ disturbs, lines });

const DRIVERS = {
  'late-lines': writing(SHOWN, (line, write) => void setTimeout(write, 150, line)),
  'windows-lines': writing(LINES, (line, write) => write(line.replace('\n', '\r\n'))),
  'lines-in-pieces': writing(LINES, (line, write) => {
    for (const piece of line.match(/.{1,50000}/gs)) write(piece);
  }),
  'blank-lines': writing(LINES, (line, write) => write(`\n \n  ${line}\n`)),
  'more-members-in-lines': writing(LINES, (line, write) => {
    const members = Object.entries({ at: Date.now(), thread: null, ...JSON.parse(line) }).toReversed();
    write(`${JSON.stringify(Object.fromEntries(members))}\n`);
  }),
  'escaped-lines': writing(LINES, (line, write) =>
    write(line.replace(/[^ -~\n]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)),
  ),
  'no-optional-abilities': writing(
    ['child-threads', 'subscription-canceled-by-model', 'result'],
    (line, write) => {
      if (!('can' in JSON.parse(line))) write(line);
    },
  ),
};

/** By what the driver does not support. */
const UNABLE = {
  answer: ['choice', 'choice-refused'],
  dismiss: ['choice-dismissed', 'choice'],
  cancel: [...CANCELS, 'result'],
  migrate: ['migration', 'failed-migration'],
  end: ['close', 'result', 'cancel'],
  model: ['result', 'wrong-ids', 'consent', 'invalid-results', 'close'],
  failure: ['refusals', 'unknown-operation', 'arguments', 'status-500', 'cancel', 'failed-migration'],
  human: ['display', 'result'],
  question: ['choice', 'choices-open', 'result'],
  consent: ['consent', 'consent-canceled'],
  view: ['view', 'view-types', 'invalid-events'],
  migrated: ['migration', 'failed-migration'],
};

const unable = Object.entries(UNABLE).map(([name, disturbs]) => [
  `cannot-${name}`,
  writing(disturbs, (line, write) => {
    const { saw, can } = JSON.parse(line);
    if (can) write(`${JSON.stringify({ cannot: [name] })}\n`);
    if (saw !== name) write(line);
  }),
]);

export const LEGAL = { ...WIRE, ...BEHAVIOUR, ...DRIVERS, ...Object.fromEntries(unable) };

for (const { methods } of Object.values(LEGAL))
  if (methods) Object.setPrototypeOf(methods, UnhurriedRuntime.prototype);

/** Runs the driver of a right runtime with this peculiarity. */
export async function runLegal(name, { output, ...streams }) {
  const { methods, lines = (line, write) => write(line) } = LEGAL[name];
  const write = text => void output.write(text);
  await runDriver({
    ...streams,
    methods,
    Variant: UnhurriedRuntime,
    output: { write: line => lines(line, write) },
  });
}
