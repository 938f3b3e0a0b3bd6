import { expect, test } from 'vitest';
import { judgeResults } from '../../../../src/session/platform/judge-results.js';
import { pause, resume, settle } from '../../../../src/session/platform/platform.js';
import type { Session } from '../../../../src/session/platform/session-state.js';
import { statusOf } from '../../../../src/session/platform/session-state.js';
import { readJson } from '../../../../src/util/json.js';
import { AT, batch, begun, errorEvent, toolResult } from '../build.js';

const STATES = ['running', 'idle', 'awaiting_tool_results'];

function posted(session: Session, body: unknown): Session {
  const { settles } = judgeResults(session, readJson(Buffer.from(JSON.stringify(body))));
  return settle(session, settles, AT).session;
}

const statesOf = ({ events }: Session) =>
  events.flatMap(({ type, data }) => (type === 'ActiveStateChangeEvent' ? [data] : []));

test('a pause is a status, and no state of the agent: nothing is published of it', () => {
  const before = begun();
  const paused = pause(before);
  expect(statusOf(paused.session)).toBe('paused');
  expect(paused.session.events).toEqual(before.events);
  expect(paused.facts).toMatchObject([{ kind: 'session', status: 'paused' }]);
});

test('resumed, it publishes the calls that survive', () => {
  const paused = posted(pause(begun()).session, toolResult('call_1'));
  const call = { tool_name: 'lookup_order', args: { order_id: 'A2' }, id: null };
  const waiting = { state: 'awaiting_tool_results', pending_tool_calls: [call, call] };
  expect(statesOf(paused).at(-1)).toEqual(waiting);
  expect(statesOf(resume(paused, AT).session).at(-1)).toEqual(waiting);
});

test('the last result in a pause leaves no call to be answered again', () => {
  const all = batch(toolResult('call_1'), toolResult('none'), errorEvent('none'));
  const paused = posted(pause(begun()).session, all);
  expect(statusOf(paused)).toBe('paused');
  expect(statesOf(paused).at(-1)).toEqual({ state: 'running' });
  for (const data of statesOf(resume(paused, AT).session))
    expect(STATES.map(state => ({ state }))).toContainEqual({ state: Object(data).state });
});
