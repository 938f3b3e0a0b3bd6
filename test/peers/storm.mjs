import { setMaxListeners } from 'node:events';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { exchange } from './runtime/wire.mjs';
import { Accounts } from './storm/accounts.mjs';
import { dispatcher } from './storm/dispatcher.mjs';
import { openInbox } from './storm/inbox.mjs';

const LINGER_MS = 150;

/**
 * Many calls over many threads, each with a callback URL of its own, and the account of what came back to where.
 * `keyed` makes the calls of a thread one after another and expects the texts 1, 2, 3… in each thread.
 * `own` names an argument that gets a text of its own in each call, which the result must say back.
 */
export async function storm(base, operation, options = {}) {
  const {
    args = {},
    calls = 2000,
    connections = 50,
    threads = 100,
    keyed = false,
    own,
    withinMs = 20_000,
  } = options;
  const accounts = new Accounts({ calls, threads, keyed, own });
  const inbox = await openInbox(accounts);
  const dispatch = dispatcher(options.endpoint ?? (await endpointOf(base)), connections);
  const startedAt = performance.now();
  const deadline = AbortSignal.timeout(withinMs);
  setMaxListeners(0, deadline);
  const send = entry => invoke(accounts, dispatch, inbox.url, { operation, args, own }, entry);
  try {
    await (keyed ? inTurns(accounts, send, deadline) : atOnce(accounts, send));
    await accounts.settled(deadline);
    const ms = Math.round(performance.now() - startedAt);
    await lingered();
    return { ...accounts.summary(), ms };
  } finally {
    dispatch.close();
    inbox.close();
  }
}

function atOnce(accounts, send) {
  return Promise.all(accounts.entries.map(send));
}

/** Threads run side by side; within one a call waits for the result of the one before. */
function inTurns(accounts, send, deadline) {
  return Promise.all(
    accounts.byThread().map(async entries => {
      for (const entry of entries) {
        await send(entry);
        await accounts.arrived(entry, deadline);
      }
    }),
  );
}

async function invoke(accounts, dispatch, url, { operation, args, own }, entry) {
  const { id, group_id, path } = entry;
  const mine = own ? { [own]: entry.text } : {};
  entry.isSent = true;
  const message = {
    operation,
    arguments: { ...args, ...mine },
    id,
    call_id: `also_${id}`,
    callback_url: url + path,
    group_id,
  };
  const status = await dispatch.post(message).catch(error => error.message);
  if (status === 200) entry.isAcked = true;
  else accounts.refused(entry, status);
}

async function endpointOf(base) {
  const { body } = await exchange('GET', `${base.replace(/\/$/, '')}/.well-known/rap-toolset`);
  return JSON.parse(body).endpoint;
}

/** A second delivery has time to show. */
function lingered() {
  return new Promise(resolve => setTimeout(resolve, LINGER_MS));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      calls: { type: 'string' },
      connections: { type: 'string' },
      threads: { type: 'string' },
      keyed: { type: 'boolean' },
      own: { type: 'string' },
    },
  });
  const [base, operation, args = '{}'] = positionals;
  const { keyed, own, ...numbers } = values;
  const counts = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)]));
  const summary = await storm(base, operation, { args: JSON.parse(args), keyed, own, ...counts });
  process.stdout.write(`${JSON.stringify(summary)}\n`);
  const { delivered, sent, twice, crossed, disordered } = summary;
  process.exitCode = delivered === sent && twice + crossed + disordered === 0 ? 0 : 1;
}
