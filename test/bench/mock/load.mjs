import { createServer } from 'node:http';
import { Agent } from 'undici';

/** So many invocations from so many connections; resolves to callbacks per second, once every single one has come. */
export async function callbacksPerSecond(url, { calls, connections }) {
  const arrived = new Set();
  let done = () => {};
  const all = new Promise(resolve => {
    done = resolve;
  });
  const receiver = createServer((request, response) => {
    request.resume();
    response.end();
    arrived.add(request.url);
    if (arrived.size === calls) done();
  });
  receiver.listen(0, '127.0.0.1');
  await new Promise(resolve => receiver.once('listening', resolve));
  const base = `http://127.0.0.1:${receiver.address().port}`;
  const agent = new Agent({ connections, pipelining: 1 });
  const start = performance.now();
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < calls; index = next++) {
      const { statusCode, body } = await agent.request({
        origin: url,
        path: '/invoke',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(invocation(base, index)),
      });
      await body.dump();
      if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  await all;
  const seconds = (performance.now() - start) / 1_000;
  receiver.close();
  await agent.destroy();
  return calls / seconds;
}

/** One invocation; resolves to when its 200 came, once its callback has come too. */
export async function firstAcknowledgement(url) {
  let arrive = () => {};
  const arrived = new Promise(resolve => {
    arrive = resolve;
  });
  const receiver = createServer((_, response) => {
    response.end(arrive);
  });
  await new Promise(resolve => receiver.listen(0, '127.0.0.1', resolve));
  const { status } = await fetch(`${url}/invoke`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(invocation(`http://127.0.0.1:${receiver.address().port}`, 0)),
  });
  const at = performance.now();
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  await arrived;
  receiver.closeAllConnections();
  receiver.close();
  return at;
}

let runs = 0;

function invocation(base, index) {
  if (index === 0) runs++;
  return {
    operation: 'edit_file',
    arguments: { path: 'src/main.rs', lines: 1 },
    id: `call_${runs}_${index}`,
    call_id: null,
    callback_url: `${base}/callback/${runs}/${index}`,
    group_id: `thread_${index % 100}`,
  };
}
