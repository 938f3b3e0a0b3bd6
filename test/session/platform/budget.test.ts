import { expect, test } from 'vitest';
import { toolResult } from './build.js';
import { platformWith } from './client.js';

const S = '/session_1';
const user = (message: string) => ({ type: 'user_message', message });

test('messages of more bytes than a session may have are refused with 429, and its end is still to be reached', async () => {
  await using it = await platformWith();
  const large = user('x'.repeat(5_000_000));
  const statuses: number[] = [];
  for (let count = 0; count < 6; count++)
    statuses.push((await it.ask('POST', `${S}/messages`, large)).status);
  expect(statuses).toEqual([202, 202, 202, 429, 429, 429]);
  expect(await it.ask('POST', `${S}/messages`, user('small'))).toMatchObject({ status: 202 });
  expect(await it.ask('POST', `${S}/force_answer`)).toMatchObject({ status: 202 });
  expect(it.platform.sessions()).toMatchObject([{ status: 'completed' }]);
});

test('a session of many events takes no more messages and no more pauses; paused, it can still be resumed', async () => {
  await using it = await platformWith();
  const many = (count: number) => ({ type: 'batch', messages: Array(count).fill(user('')) });
  const { body } = await it.ask('GET', `${S}/events?size=1`);
  const { total } = body as { total: number };
  expect(await it.ask('POST', `${S}/messages`, many(10_001 - total))).toMatchObject({
    status: 429,
    body: { detail: 'This session has too many events.' },
  });
  expect(await it.ask('POST', `${S}/messages`, many(9_999 - total))).toMatchObject({ status: 202 });
  expect(await it.ask('POST', `${S}/pause`)).toMatchObject({ status: 202 });
  expect(await it.ask('POST', `${S}/messages`, many(1))).toMatchObject({ status: 202 });
  expect(await it.ask('POST', `${S}/pause`)).toMatchObject({ status: 429 });
  expect(await it.ask('POST', `${S}/resume`)).toMatchObject({ status: 202 });
  expect(await it.ask('POST', `${S}/tool_results`, toolResult('call_1'))).toMatchObject({ status: 202 });
});

test('row 15: all sessions together have so many bytes; beyond it 429, and those that are there can still be ended', async () => {
  await using it = await platformWith();
  const request = JSON.stringify({ agent: 'x', note: 'x'.repeat(4 * 1024 * 1024) });
  const statuses: number[] = [];
  for (let count = 0; count < 40; count++) statuses.push((await it.ask('POST', '', request)).status);
  expect(statuses.filter(status => status === 201)).toHaveLength(31);
  expect(statuses.slice(31)).toEqual(Array(9).fill(429));
  expect(await it.ask('POST', `${S}/messages`, user('x'.repeat(4 * 1024 * 1024)))).toMatchObject({
    status: 429,
  });
  const large = { ...toolResult('call_1'), note: 'x'.repeat(4 * 1024 * 1024) };
  expect(await it.ask('POST', `${S}/tool_results`, large)).toMatchObject({ status: 429 });
  expect(await it.ask('POST', `${S}/tool_results`, toolResult('call_1'))).toMatchObject({ status: 202 });
});
