import { expect, test } from 'vitest';
import { acknowledged, call, INVOCATION } from '../../events/build.js';
import { onCalls } from './support/open-session.js';

const pending = [...call(), ...acknowledged()];
const WARNING = 'pending and will be canceled: press again to quit.';

test('the warning before quitting is valid for a while only', () => {
  const session = onCalls(pending);
  session.press('q');
  session.clock.advance(6_001);
  expect(session.sees()).not.toContain(WARNING);
  session.press('q');
  expect(session.asked).toEqual([]);
  expect(session.sees()).toContain(WARNING);
});

test('and for that number of pending calls only', () => {
  const session = onCalls(pending);
  session.press('q');
  const other = { ...INVOCATION, id: 'call_other' };
  session.tell(
    call({ invocation: other }).map(moment => ({ ...moment, leg: 'other', calls: ['call_other'] })),
  );
  session.press('q');
  expect(session.asked).toEqual([]);
  expect(session.sees()).toContain(`2 calls are ${WARNING}`);
  session.press('q');
  expect(session.asked).toEqual(['quit']);
});
