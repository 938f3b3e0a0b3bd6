/** Each message once, in the order of first arrival: the same bytes again are a retry. */
function messagesOf({ callbacks }) {
  const messages = new Map();
  for (const [index, callback] of callbacks.entries()) {
    const key = callback.bytes.toString('latin1');
    const message = messages.get(key) ?? { place: index + 1, body: callback.body, attempts: [] };
    message.attempts.push(callback);
    messages.set(key, message);
  }
  return [...messages.values()];
}

function isAccepted({ status }) {
  return status !== null && status >= 200 && status < 300;
}

const isText = value => typeof value === 'string';
const isName = value => isText(value) && value !== '';
const isFlag = value => typeof value === 'boolean';
const isRecord = value => typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = test => value => Array.isArray(value) && value.every(test);
const maybe = test => value => value === undefined || test(value);

const isImage = value => isRecord(value) && isText(value.data) && isText(value.mediaType);
const isItem = value =>
  isRecord(value) &&
  ((value.type === 'text' && isText(value.text)) || (value.type === 'image' && isImage(value)));
const isDiff = value => isRecord(value) && isText(value.path) && isText(value.patch);
const SEGMENTS = { text: isText, diff: isDiff, image: isImage };
const isSegment = value =>
  isRecord(value) &&
  isText(value.type) &&
  'content' in value &&
  (!Object.hasOwn(SEGMENTS, value.type) || SEGMENTS[value.type](value.content));
const isCallId = maybe(value => value === null || isText(value));

const SHAPES = {
  tool_result: {
    group_id: isName,
    id: isName,
    call_id: isCallId,
    text: maybe(isText),
    content: maybe(isList(isItem)),
    display_as: maybe(isList(isSegment)),
    subscription: maybe(isFlag),
  },
  oauth: { group_id: isName, id: isName, call_id: isCallId, auth_url: isName },
  user_choice: {
    group_id: isName,
    id: isName,
    call_id: isCallId,
    prompt: isText,
    choices: isList(isText),
    default: Number.isInteger,
    response_url: isName,
  },
  subscription_event: {
    group_id: isName,
    tool_call_id: isName,
    text: isText,
    associative: maybe(isFlag),
    final: maybe(isFlag),
  },
  view_update: { group_id: isName, view_type: isName, content: isRecord },
};

/** What keeps a message from being one of its type; null for a good one. */
function shapeFault(body) {
  if (!isRecord(body)) return 'it is not a JSON object';
  if (!isText(body.type) || !Object.hasOwn(SHAPES, body.type))
    return `the type is ${JSON.stringify(body.type)}`;
  for (const [field, fits] of Object.entries(SHAPES[body.type])) {
    if (!fits(body[field])) return `${body.type} has ${field}: ${JSON.stringify(body[field])}`;
  }
  const isEmpty = body.type === 'tool_result' && body.text === undefined && body.content === undefined;
  return isEmpty ? 'tool_result has neither text nor content' : null;
}

/** Far more than "at once": this machine may have other work to do. */
const LIMIT_MS = 60_000;

/** The 200 comes at once, before the result and with nothing in it. */
function* acknowledgementFaults({ ack, callbacks }) {
  if (ack === null) return;
  const { status, ms, body, error } = ack;
  if (status !== 200) yield { id: 'TOOL-ACK', why: error ?? `acknowledged with ${status}` };
  if (ms > LIMIT_MS) yield { id: 'TOOL-ACK', why: `acknowledged after ${Math.round(ms)} ms` };
  if (body !== '') yield { id: 'TOOL-ASYNC', why: `the acknowledgement has a body: ${body.slice(0, 100)}` };
  const early = callbacks.findIndex(callback => callback.beforeAck);
  if (early >= 0) yield { id: 'TOOL-ACK', why: `callback ${early + 1} came before the acknowledgement` };
}

/** What was refused for good is not sent again. */
function* attemptFaults(call) {
  for (const { place, attempts } of messagesOf(call)) {
    const refused = attempts.slice(0, -1).find(({ status }) => status >= 300 && status < 500);
    if (refused)
      yield { id: 'TOOL-NORETRY', why: `callback ${place} was sent again after a ${refused.status}` };
  }
}

/** Every call ends in a result that was taken, and what was lost on the wire was sent again. */
function* unfinishedFaults(call) {
  const messages = messagesOf(call);
  const results = messages.filter(({ body }) => body?.type === 'tool_result');
  // After a cancel no result is owed; and a result that was refused has been delivered.
  const isOwed = call.ack?.status === 200 && call.endedMs === null;
  if (isOwed && results.length === 0) yield { id: 'TOOL-ALWAYS', why: 'without result' };
  for (const { place, attempts } of messages) {
    const wasLost = attempts.every(({ status }) => status === null || status >= 500);
    if (wasLost && attempts.length === 1 && !attempts.some(isAccepted))
      yield { id: 'TOOL-RETRY', why: `callback ${place} was lost and not sent again` };
  }
}

/** What the human sees ends in a short line; diffs are diffs; images are described. */
function* displayFaults({ callbacks }) {
  for (const [index, { body }] of callbacks.entries()) {
    for (const [id, why] of [
      ...segmentFaults(body?.display_as),
      ...itemFaults(body?.content),
      ...viewFaults(body),
    ])
      yield { id, why: `callback ${index + 1}: ${why}` };
  }
}

function* segmentFaults(segments) {
  if (!Array.isArray(segments) || segments.length === 0) return;
  const last = segments.at(-1);
  if (last?.type !== 'text' || typeof last.content !== 'string' || last.content.includes('\n'))
    yield ['TOOL-FALLBACK', 'display_as does not end in a text of one line'];
  for (const [place, segment] of segments.entries()) {
    if (segment?.type === 'diff' && !isUnifiedDiff(segment.content?.patch))
      yield ['TOOL-DIFF', `segment ${place} has no unified diff`];
    if (segment?.type === 'image' && !segments.slice(place).some(later => later?.type === 'text'))
      yield ['TOOL-IMAGE', 'no text follows the image'];
  }
}

function* itemFaults(items) {
  if (!Array.isArray(items) || !items.some(item => item?.type === 'image')) return;
  if (items[0]?.type !== 'text')
    yield ['TOOL-IMAGE', 'content does not begin with a text that describes the image'];
}

/** Content without anything in it clears a view. */
function* viewFaults(body) {
  if (body?.type !== 'view_update' || body.view_type !== 'diff') return;
  const isCleared = Object.keys(body.content ?? {}).length === 0;
  if (!isCleared && !isUnifiedDiff(body.content?.patch)) yield ['TOOL-DIFF', 'the view has no unified diff'];
}

function isUnifiedDiff(patch) {
  return (
    typeof patch === 'string' && /^--- .*\n\+\+\+ .*\n(.*\n)*?@@ -\d+(,\d+)? \+\d+(,\d+)? @@/m.test(patch)
  );
}

const JSON_TYPE = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;

/** Callbacks are POSTs of JSON in UTF-8, and have the shape of their type. */
function* formFaults({ callbacks }) {
  for (const [index, callback] of callbacks.entries()) {
    for (const why of [transport(callback), encoding(callback), shapeFault(callback.body)])
      if (why) yield { id: 'TOOL-POST', why: `callback ${index + 1}: ${why}` };
  }
}

function transport({ method, headers }) {
  if (method !== 'POST') return `the method is ${method}`;
  const type = headers['content-type'];
  if (!JSON_TYPE.test(type ?? '')) return `the content type is ${type}`;
  return headers['content-encoding'] ? `the body is encoded: ${headers['content-encoding']}` : null;
}

function encoding({ bytes }) {
  if (bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]))) return 'it begins with a byte order mark';
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return null;
  } catch {
    return 'it is not UTF-8';
  }
}

const OF_A_CALL = ['tool_result', 'oauth', 'user_choice'];

/** The names of the call come back unchanged. */
function* nameFaults({ invocation, callbacks }) {
  for (const [index, { body }] of callbacks.entries()) {
    for (const [id, field, name] of expected(invocation, body)) {
      // A call_id of null, and one that was left out, mean the same.
      const [got, sent] = [body[field] ?? null, name ?? null];
      if (got !== sent)
        yield {
          id,
          why: `callback ${index + 1}: ${field} is ${JSON.stringify(got)} instead of ${JSON.stringify(sent)}`,
        };
    }
  }
}

function* expected({ group_id, id, call_id }, body) {
  if (typeof body !== 'object' || body === null) return;
  yield ['TOOL-GROUP', 'group_id', group_id];
  if (body.type === 'subscription_event') yield ['TOOL-SUB', 'tool_call_id', id];
  if (!OF_A_CALL.includes(body.type)) return;
  yield ['TOOL-ID', 'id', id];
  yield ['TOOL-CALLID', 'call_id', call_id];
}

export function* closeFaults({ status, body }) {
  if (status !== 200) yield { id: 'TOOL-CLOSE', why: `close_thread was answered ${status}` };
  if (body !== '')
    yield { id: 'TOOL-CLOSE', why: `close_thread was answered with a body: ${body.slice(0, 100)}` };
}

export function* cancelFaults({ status }) {
  if (status !== 200) yield { id: 'TOOL-CANCEL', why: `cancel_tool_call was answered ${status}` };
}

/** It may fail, but has to say so: with a 4xx or 5xx and a message. */
export function* migrationFaults({ status, body }) {
  const isClear = status === 200 || (status >= 400 && body !== '');
  if (!isClear)
    yield { id: 'TOOL-MIGRATE', why: `migrate was answered ${status} with ${JSON.stringify(body)}` };
}

const ASKS = { user_choice: 'TOOL-CHOICE', oauth: 'TOOL-OAUTH' };

/** One result; questions before it; events after it, while the subscription lasts. */
function* orderFaults(call) {
  const seen = { hasResult: false, isSubscribed: false, isFinal: false };
  for (const { place, body, attempts } of messagesOf(call)) {
    const type = body?.type;
    const fault = (id, why) => ({ id, why: `callback ${place}: ${why}` });
    if (type === 'tool_result' && seen.hasResult) yield fault('TOOL-ONCE', 'a second result');
    if (Object.hasOwn(ASKS, type) && seen.hasResult) yield fault(ASKS[type], `${type} after the result`);
    if (type === 'subscription_event') {
      for (const why of eventFaults(seen, attempts, call.endedMs)) yield fault('TOOL-SUB', why);
      seen.isFinal ||= body.final === true;
    }
    seen.hasResult ||= type === 'tool_result';
    seen.isSubscribed ||= type === 'tool_result' && body.subscription === true;
  }
}

function* eventFaults({ isSubscribed, isFinal }, attempts, endedMs) {
  if (!isSubscribed) yield 'an event without a subscription';
  if (isFinal) yield 'an event after the final one';
  if (endedMs !== null && attempts.some(({ ms }) => ms > endedMs)) yield 'an event after the cancel or close';
}

const LOOPBACK = /^http:\/\/(localhost|127(\.\d+){3}|\[::1\])(:\d+)?\//;
const TOKEN = /"(access|refresh|id)_token"|[?&](access_token|refresh_token|code)=/;

/** A question can be answered, consent can be given safely, and neither gives anything away. */
function* questionFaults({ callbacks, selections }) {
  const hasConsent = callbacks.some(({ body }) => body?.type === 'oauth');
  for (const [index, { body, raw }] of callbacks.entries()) {
    const fault = (id, why) => ({ id, why: `callback ${index + 1}: ${why}` });
    if (body?.type === 'user_choice') for (const why of choiceFaults(body)) yield fault('TOOL-CHOICE', why);
    if (body?.type === 'oauth' && !isSafe(body.auth_url)) yield fault('TOOL-OAUTH', 'auth_url is not HTTPS');
    if (hasConsent && TOKEN.test(raw)) yield fault('TOOL-OAUTH', 'a token or code is in the message');
  }
  const [first] = selections;
  if (first && first.status !== 200)
    yield { id: 'TOOL-CHOICE', why: `response_url answered ${first.status} to selection ${first.selected}` };
}

function* choiceFaults({ choices, default: index, response_url }) {
  if (!Array.isArray(choices) || choices.length === 0) yield 'there is nothing to choose from';
  else if (!(Number.isInteger(index) && index >= 0 && index < choices.length)) yield `default is ${index}`;
  if (!/^https?:\/\//.test(response_url)) yield `response_url is ${response_url}`;
}

function isSafe(url) {
  return typeof url === 'string' && (url.startsWith('https://') || LOOPBACK.test(url));
}

/** A callback URL is used exactly as given, and by the call that it was given to. */
export function* strayFaults(calls, strays) {
  for (const { url } of strays)
    yield { id: 'TOOL-OPAQUE', why: `a callback came to ${url}, which no one was given` };
  const owners = new Map(calls.map(({ invocation }) => [keyOf(invocation), invocation]));
  for (const { invocation, callbacks } of calls) {
    for (const { body } of callbacks) {
      const owner = owners.get(keyOf(body));
      if (owner && owner.callback_url !== invocation.callback_url)
        yield { id: 'TOOL-ISOLATE', why: `a callback of ${owner.id} came to the URL of ${invocation.id}` };
    }
  }
}

function keyOf(names) {
  return JSON.stringify([names?.group_id, names?.id ?? names?.tool_call_id]);
}

const INTERNALS =
  /\n\s+at .+[:(]|Traceback \(most recent call last\)|\bnode:internal\b|\bnode_modules\b|file:\/\//;

/** No secret in any message, no internals in an error text. */
function* textFaults({ callbacks, secrets }) {
  for (const [index, { body, raw }] of callbacks.entries()) {
    if (secrets.some(secret => raw.includes(secret)))
      yield { id: 'TOOL-SECRET', why: `callback ${index + 1}: a secret is in the message` };
    const text = typeof body?.text === 'string' ? body.text : '';
    if (/^error\b/i.test(text) && !text.startsWith('Error: '))
      yield { id: 'TOOL-ERRPREFIX', why: `callback ${index + 1}: the text begins with ${text.slice(0, 20)}` };
    if (text.startsWith('Error') && INTERNALS.test(text))
      yield { id: 'TOOL-NOLEAK', why: `callback ${index + 1}: internals are in the error text` };
  }
}

const NAME = /^[A-Za-z0-9_-]{1,128}$/;
const FLAGS = ['readOnly', 'destructive', 'idempotent', 'longRunning'];

export function* toolsetFaults({ status, headers }, toolset) {
  const fault = why => ({ id: 'TOOL-DISCOVER', why });
  if (status !== 200) yield fault(`discovery was answered ${status}`);
  if (!/^application\/json\b/i.test(headers['content-type'] ?? ''))
    yield fault(`the content type is ${headers['content-type']}`);
  if (!isRecord(toolset)) return yield fault('the toolset is not an object');
  const { name, endpoint, tools, needsMigration = false } = toolset;
  if (typeof name !== 'string' || name.length < 1 || name.length > 128) yield fault(`its name is ${name}`);
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) yield fault(`its endpoint is ${endpoint}`);
  if (typeof needsMigration !== 'boolean') yield fault(`needsMigration is ${needsMigration}`);
  if (!Array.isArray(tools) || tools.length === 0) return yield fault('it has no tools');
  for (const tool of tools) yield* toolFaults(tool);
  const names = tools.map(tool => tool?.name);
  if (new Set(names).size < names.length) yield { id: 'TOOL-NAMES', why: `a name is there twice: ${names}` };
}

function* toolFaults(tool) {
  if (!NAME.test(tool?.name ?? '')) yield { id: 'TOOL-NAMES', why: `a tool has the name ${tool?.name}` };
  const wrong = why => ({ id: 'TOOL-DISCOVER', why: `tool ${tool?.name}: ${why}` });
  if (typeof tool?.description !== 'string') yield wrong('it has no description');
  if (!isRecord(tool?.inputSchema)) yield wrong('inputSchema is not an object');
  for (const flag of FLAGS) {
    const value = tool?.annotations?.[flag];
    if (value !== undefined && typeof value !== 'boolean') yield wrong(`${flag} is ${value}`);
  }
}

const RULES = [
  acknowledgementFaults,
  formFaults,
  nameFaults,
  orderFaults,
  questionFaults,
  displayFaults,
  textFaults,
  attemptFaults,
];

/** Everything about one call that a good tool would not have done: `{id, why}`, with the ids of the protocol's table. */
export function faultsOf(call) {
  return RULES.flatMap(rule => [...rule(call)]);
}

/** What only shows when nothing more is expected of the call. */
export function openEndsOf(call) {
  return [...unfinishedFaults(call)];
}
