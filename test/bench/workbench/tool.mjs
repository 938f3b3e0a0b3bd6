import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request as send } from 'undici';
import { patchOf } from '../diff/patch.mjs';

/** As many as a busy tool has; more would only knock at one door at once. */
const dispatcher = new Agent({ connections: 32 });

/** What a workbench is measured with: results of any size, and a subscription with as many events as one wants. */
const operations = {
  text: ({ bytes }) => ({ text: textOf(bytes) }),
  diff: ({ lines }) => ({
    text: 'Edited.',
    display_as: [
      { type: 'diff', content: { path: 'src/totals.ts', patch: patchOf(lines) } },
      { type: 'text', content: 'edited' },
    ],
  }),
  storm: () => ({ text: 'Subscribed.', subscription: true }),
};

const number = { type: 'integer' };
const schemaOf = (...names) => ({
  type: 'object',
  properties: Object.fromEntries(names.map(name => [name, number])),
  required: names,
});
const tools = [
  { name: 'text', description: 'A text of so many bytes.', inputSchema: schemaOf('bytes') },
  { name: 'diff', description: 'A diff of so many lines.', inputSchema: schemaOf('lines') },
  { name: 'storm', description: 'Events, at a steady rate.', inputSchema: schemaOf('events', 'perSecond') },
];

const server = createServer(async (request, response) => {
  if (request.url === '/.well-known/rap-toolset') {
    const endpoint = `http://${request.headers.host}/invoke`;
    return response.end(JSON.stringify({ name: 'bench-tool', endpoint, tools }));
  }
  response.end();
  if (request.url === '/invoke') await perform(JSON.parse(await bodyOf(request)));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
say({ port: server.address().port });

async function perform({ operation, arguments: args, ...call }) {
  await deliver(call, { type: 'tool_result', id: call.id, ...operations[operation](args) });
  if (operation === 'storm') await storm(call, args);
}

/** By the clock: what was late is made up for. The last one ends the subscription; when it was sent is reported once it has come. */
async function storm(call, { events, perSecond }) {
  const start = performance.now();
  const event = number => ({ type: 'subscription_event', tool_call_id: call.id, text: `event ${number}` });
  const deliveries = [];
  while (deliveries.length < events - 1) {
    await pause(2);
    const due = Math.min(events - 1, ((performance.now() - start) * perSecond) / 1_000);
    while (deliveries.length < due) deliveries.push(deliver(call, event(deliveries.length + 1)));
  }
  await Promise.all(deliveries);
  const times = { lastAt: Date.now(), tookMs: performance.now() - start };
  await deliver(call, { ...event(events), final: true });
  say(times);
}

/** No one may be there any more. */
async function deliver({ group_id, callback_url }, message) {
  const body = JSON.stringify({ group_id, ...message });
  const headers = { 'content-type': 'application/json' };
  const sent = send(callback_url, { dispatcher, method: 'POST', headers, body });
  await sent.then(answer => answer.body.dump()).catch(() => {});
}

function textOf(bytes) {
  const line = 'A line of words that says nothing much, as a log has them by the million.\n';
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}

function say(what) {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

async function bodyOf(message) {
  const chunks = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
