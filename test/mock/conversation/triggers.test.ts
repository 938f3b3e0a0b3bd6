import { expect, test } from 'vitest';
import { ManualTriggers } from '../../../src/mock/waits.js';

function demandsOf(...waiting: readonly (readonly [key: string, id: string, name: string])[]) {
  const triggers = new ManualTriggers();
  const fired: string[] = [];
  const all = waiting.map(([key, id, name]) => {
    const [group_id = ''] = key.split('/');
    const demand = triggers.wait(key, { group_id, id });
    void demand.fired.then(() => fired.push(name));
    return demand;
  });
  const fire = async (id?: string, thread?: string) => {
    fired.length = 0;
    const count = triggers.fire(id, thread);
    await Promise.all([]);
    return [count, ...fired];
  };
  return { all, fire };
}

test('the oldest of each call that waits', async () => {
  const { fire } = demandsOf(['g/i', 'i', 'first'], ['g/i', 'i', 'second'], ['g/j', 'j', 'other']);
  expect([await fire(), await fire(), await fire()]).toEqual([[2, 'first', 'other'], [1, 'second'], [0]]);
});

test('by the id that the runtime knows: of every thread that has it', async () => {
  const { fire } = demandsOf(['g/i', 'i', 'of g'], ['h/i', 'i', 'of h'], ['g/j', 'j', 'other']);
  expect([await fire('x'), await fire('i'), await fire('i')]).toEqual([[0], [2, 'of g', 'of h'], [0]]);
});

test('by the thread as well: an id is unique in its thread only', async () => {
  const { fire } = demandsOf(['g/i', 'i', 'of g'], ['h/i', 'i', 'of h'], ['h/j', 'j', 'other']);
  expect([await fire('i', 'x'), await fire('i', 'h'), await fire(undefined, 'h')]).toEqual([
    [0],
    [1, 'of h'],
    [1, 'other'],
  ]);
});

test('who left is not fired', async () => {
  const { all, fire } = demandsOf(['g/i', 'i', 'gone'], ['g/i', 'i', 'there']);
  all[0]?.leave();
  expect(await fire()).toEqual([1, 'there']);
});
