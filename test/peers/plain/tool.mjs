import { ownOrigin, sendJson } from '../kit/http.mjs';
import { Journal } from '../kit/journal.mjs';
import { Call, end } from './call.mjs';
import { isConsent, showConsent, takeConsent } from './consent.mjs';
import { migrationOf } from './migration.mjs';
import { perform, tools } from './operations.mjs';

const NOTICES = {
  '/invoke': 'invocation',
  '/close_thread': 'close_thread',
  '/cancel_tool_call': 'cancel_tool_call',
};

/** Answers as the tool does, see ../README.md. */
export function plainTool({ MIGRATION }) {
  const journal = new Journal();
  const { migration, migrate } = migrationOf(MIGRATION);

  return async (request, response) => {
    if (request.method !== 'POST') await show(request, response);
    else if (isConsent(request.url)) await hear(request, response);
    else if (request.url === '/migrate' && migration) await move(request, response);
    else await take(request, response);
  };

  async function show(request, response) {
    if (request.url === '/__log') return sendJson(response, journal.entries);
    if (isConsent(request.url)) return showConsent(request.url, response);
    if (request.url !== '/.well-known/rap-toolset') return response.writeHead(404).end();
    await journal.receive('discovery', request);
    sendJson(response, { name: 'plain-tool', endpoint: `${ownOrigin(request)}/invoke`, tools, ...migration });
  }

  async function take(request, response) {
    const what = NOTICES[request.url];
    if (!what) return response.writeHead(404).end();
    // The protocol wants the acknowledgement at once, so this tool does not even wait for the body.
    response.writeHead(200).end();
    const { body } = await journal.receive(what, request);
    if (what === 'close_thread') end(body?.thread_id);
    if (what === 'cancel_tool_call') end(body?.thread_id, body?.tool_call_id);
    if (what === 'invocation' && body?.callback_url) await answer(body, ownOrigin(request));
  }

  async function answer(invocation, origin) {
    const call = new Call(invocation, { journal, origin });
    await perform(invocation.operation, invocation.arguments, call);
    call.leave();
  }

  async function hear(request, response) {
    const { raw } = await journal.receive('consent', request);
    takeConsent(request.url, raw, response);
  }

  async function move(request, response) {
    const { body } = await journal.receive('migrate', request);
    const { status, text } = migrate(body);
    response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
  }
}
