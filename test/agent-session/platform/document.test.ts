import { describe, expect, test } from 'vitest';
import { script } from './build.js';
import { type Answered, type Ask, platformWith } from './client.js';
import {
  brokenBodies,
  brokenParameters,
  faultsOfType,
  NOT_SERVED,
  OPERATIONS,
  type Operation,
  REFUSALS,
} from './document.js';

/** Generated from `test/fixtures/agent-sessions.json`: every documented answer and refusal of `session mock`. */

const UNKNOWN = '00000000-0000-4000-8000-00000000ffff';
const SCRIPT = script({
  rounds: [{ calls: [{ tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' }] }],
  answer: 'done',
});
const nameOf = ({ method, path }: Operation) => `${method} ${path}`;

/** A platform with a session that waits, and a webhook to itself. */
async function platform(options: Parameters<typeof platformWith>[0] = {}) {
  const it = await platformWith({ script: SCRIPT, ...options });
  const idIn = ({ body }: Answered) => (body as { readonly id: string }).id;
  const id = idIn(await it.ask('POST', '', { agent: 'a' }));
  const webhook = idIn(await it.api('POST', '/webhooks', { url: it.platform.url }));
  return { ...it, ids: { id, webhook_id: webhook, event_index: '0' } };
}

type Ids = Readonly<Record<string, string>>;

const filled = (path: string, ids: Ids) => path.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? UNKNOWN);

/** What is wrong with a refusal. */
function faultsIn({ status, body, text }: Answered, expected: number): string[] {
  if (status !== expected) return [`is answered ${status} ${text.slice(0, 200)}`];
  return faultsOfType(REFUSALS[status] ?? '', body);
}

/** Whether an error names this place, or one around it or in it: an alternative has no error of its own. */
function isAt(loc: readonly unknown[], path: readonly unknown[]): boolean {
  return path.slice(0, loc.length).every((key, index) => key === loc[index]);
}

const locationOf = ({ body }: Answered) =>
  (body as { readonly detail: readonly { readonly loc: readonly unknown[] }[] }).detail[0]?.loc ?? [];

describe.each(OPERATIONS)('$method $path', operation => {
  const { method, path, body, examples, query, headers, answers } = operation;
  const hasId = /\{(?:webhook_)?id\}/.test(path);

  test('a right request has the documented answer', async () => {
    for (const example of examples.length > 0 ? examples : [undefined]) {
      await using it = await platform();
      const answer = await it.api(method, filled(path, it.ids), example);
      expect(Object.keys(answers), answer.text).toContain(String(answer.status));
      const type = answers[answer.status];
      if (type) expect(faultsOfType(type, answer.body), answer.text).toEqual([]);
      else expect(answer.text).toBe('');
    }
  });

  test('401 without the key', async () => {
    await using it = await platform();
    const answer = await it.api(method, filled(path, it.ids), examples[0], { authorization: '' });
    expect(faultsIn(answer, 401)).toEqual([]);
  });

  if (hasId)
    test('404 for an unknown id', async () => {
      await using it = await platform();
      for (const id of [UNKNOWN, 'x', '%00']) {
        const unknown = { event_index: '0', id, webhook_id: id };
        expect(faultsIn(await it.api(method, filled(path, unknown), examples[0]), 404)).toEqual([]);
      }
    });

  if (body.length > 0)
    test('422 for a body that is not of its type, with the place', async () => {
      await using it = await platform();
      const broken = brokenBodies(operation);
      const wrong: unknown[] = [];
      for (const { path: at, value } of broken) {
        const answer = await it.api(method, filled(path, it.ids), JSON.stringify(value));
        const faults = faultsIn(answer, 422);
        if (faults.length === 0 && !isAt(locationOf(answer), ['body', ...at]))
          faults.push(`names ${JSON.stringify(locationOf(answer))}`);
        if (faults.length > 0) wrong.push([at.join('.'), JSON.stringify(value).slice(0, 200), ...faults]);
      }
      expect(broken.length).toBeGreaterThan(10);
      expect(wrong).toEqual([]);
    });

  if (body.length > 0)
    test('422 for what is not JSON, and for another media type', async () => {
      await using it = await platform();
      const post = (sent: string, more = {}) => it.api(method, filled(path, it.ids), sent, more);
      expect(faultsIn(await post('{'), 422)).toEqual([]);
      expect(faultsIn(await post('{}', { 'content-type': 'text/plain' }), 422)).toEqual([]);
      expect(faultsIn(await post('x'.repeat(11_000_000)), 413)).toEqual([]);
    });

  if (Object.keys(query).length > 0)
    test('422 for a wrong parameter, with its name', async () => {
      await using it = await platform();
      const wrong: unknown[] = [];
      for (const { name, text } of brokenParameters(operation)) {
        const answer = await it.api(
          method,
          `${filled(path, it.ids)}?${new URLSearchParams({ [name]: text })}`,
        );
        const faults = faultsIn(answer, 422);
        if (faults.length === 0 && locationOf(answer)[1] !== name) faults.push(answer.text);
        if (faults.length > 0) wrong.push([name, text, ...faults]);
      }
      expect(wrong).toEqual([]);
    });

  if (Object.keys(headers).length > 0)
    test('422 for a long header', async () => {
      await using it = await platform();
      for (const name of Object.keys(headers)) {
        const answer = await it.api(method, filled(path, it.ids), examples[0], { [name]: 'x'.repeat(256) });
        expect([faultsIn(answer, 422), locationOf(answer)]).toEqual([[], ['header', name]]);
      }
    });
});

test('405 for a method that a path does not document', async () => {
  await using it = await platform();
  const documented = new Set(OPERATIONS.map(nameOf));
  for (const path of new Set(OPERATIONS.map(each => each.path)))
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      if (documented.has(`${method} ${path}`) || path.includes('{webhook_id}')) continue;
      // a fixed path such as /webhooks/events stands where another has an id
      const isBelowId = documented.has(`${method} ${path.replace(/\/(?:events|quota)$/, '/{webhook_id}')}`);
      if (isBelowId) continue;
      const answer = await it.api(method, filled(path, it.ids));
      expect([method, path, faultsIn(answer, 405)]).toEqual([method, path, []]);
    }
});

test('404 "not part of this mock" for documented paths that it does not serve', async () => {
  await using it = await platform();
  for (const operation of NOT_SERVED) {
    const [method = '', path = ''] = operation.split(' ');
    const answer = await it.api(method, filled(path, { ...it.ids, bucket: 'a', key: 'b', name: 'c' }));
    expect([operation, answer.status, answer.body]).toEqual([
      operation,
      404,
      { detail: 'This path is not part of this mock.' },
    ]);
  }
});

describe('refusals by the state of a session', () => {
  const post = (api: Ask, path: string, ids: Ids) => {
    const operation = OPERATIONS.find(each => each.method === 'POST' && each.path === path);
    return api('POST', filled(path, ids), operation?.examples[0]);
  };

  test.each(['/sessions/{id}/messages', '/sessions/{id}/tool_results'])(
    '409 for a finished one: %s',
    async path => {
      await using it = await platform();
      await it.ask('DELETE', `/${it.ids.id}`);
      expect(faultsIn(await post(it.api, path, it.ids), 409)).toEqual([]);
    },
  );

  test('422 for a result of an unknown call, or of one that has its result', async () => {
    await using it = await platform();
    const result = (id: string) => ({ kind: 'tool_result', tool_req: { tool_name: 'lookup_order', id } });
    const send = (...results: object[]) =>
      it.ask('POST', `/${it.ids.id}/tool_results`, { type: 'batch', results });
    expect(faultsIn(await send(result('call_9')), 422)).toEqual([]);
    expect(faultsIn(await send(result('call_1'), result('call_1')), 422)).toEqual([]);
  });

  test('429 for a creation that a script refuses', async () => {
    const faulty = { ...SCRIPT, faults: { create: [429 as const] } };
    await using it = await platformWith({ script: faulty });
    expect(faultsIn(await it.ask('POST', '', { agent: 'a' }), 429)).toEqual([]);
  });
});
