import { ownOrigin, sendJson } from '../kit/http.mjs';
import { Journal } from '../kit/journal.mjs';
import { acknowledgements } from './acknowledgements.mjs';
import { Call } from './call.mjs';
import { deliveries } from './deliveries.mjs';
import { displays } from './displays.mjs';
import { events } from './events.mjs';
import { messages } from './messages.mjs';
import { questions } from './questions.mjs';
import { peculiarNames } from './schemas.mjs';
import { answerDiscovery, isVariant } from './toolsets.mjs';

const RECEIVED = {
  '/invoke': 'invocation',
  '/tools/x/invoke': 'invocation',
  '/close_thread': 'close_thread',
  '/tools/x/close_thread': 'close_thread',
  '/cancel_tool_call': 'cancel_tool_call',
  '/tools/x/cancel_tool_call': 'cancel_tool_call',
  '/elsewhere': 'redirected',
};
const conversations = { ...deliveries, ...questions, ...events };

/** Answers as the tool does, see ../README.md. */
export function oddTool({ TOOLSET, ENDPOINT }) {
  if (TOOLSET && !isVariant(TOOLSET)) throw new Error(`TOOLSET=${TOOLSET} is not known`);

  const journal = new Journal();
  const attempts = new Map();

  return async (request, response) => {
    if (request.url === '/__log') return sendJson(response, journal.entries);
    if (request.url.endsWith('/.well-known/rap-toolset')) return discover(request, response);
    const what = RECEIVED[request.url];
    if (!what) return response.writeHead(404).end();
    const { body } = await journal.receive(what, request);
    if (what === 'invocation' && body?.callback_url) await perform(body, ownOrigin(request), response);
    else response.writeHead(200, { 'content-length': 0 }).end();
  };

  async function discover(request, response) {
    await journal.receive('discovery', request);
    const isAtOrigin = request.url === '/.well-known/rap-toolset';
    answerDiscovery(isAtOrigin ? TOOLSET : 'missing', ownOrigin(request), response, ENDPOINT);
  }

  async function perform(invocation, origin, response) {
    const { id, operation } = invocation;
    const attempt = (attempts.get(id) ?? 0) + 1;
    attempts.set(id, attempt);
    const call = new Call(invocation, { attempt, origin, response, journal });
    const acknowledge = own(acknowledgements, operation);
    if (acknowledge) return acknowledge(call);
    call.acknowledge();
    await answer(call, operation);
  }
}

function answer(call, operation) {
  const deliver = own(conversations, operation);
  if (deliver) return deliver(call);
  const message = own(messages, operation);
  if (message) return call.deliver(message(call.reply()));
  const display_as = own(displays, operation);
  if (display_as) return call.deliver(call.reply({ display_as }));
  if (peculiarNames.includes(operation)) return call.deliver(call.reply());
  return call.deliver(call.reply({ text: `Error: unknown operation "${operation}". See the toolset.` }));
}

/** Operations are foreign names: `constructor` must not be found. */
function own(table, name) {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
