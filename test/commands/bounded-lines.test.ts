import { expect, test } from 'vitest';
import { BoundedLines } from '../../src/commands/event-output.js';

function paper() {
  const written: string[] = [];
  return {
    written,
    writableLength: 0,
    once: () => {},
    write(text: string) {
      written.push(text);
      this.writableLength += text.length;
    },
  };
}

const dropped = (count: number) => [`dropped ${count}`];

test('row 30: lines that do not fit are dropped, and reported once there is room again', () => {
  const slow = paper();
  const lines = new BoundedLines(slow, dropped, 5);
  lines.write(() => ['body', 'event']);
  for (let number = 0; number < 3; number++)
    lines.write(() => {
      throw new Error('what is dropped is not even made');
    });
  slow.writableLength = 0;
  lines.write(() => ['next']);
  slow.writableLength = 0;
  lines.write(() => ['last']);
  expect(slow.written).toEqual(['body\nevent\n', 'dropped 3\nnext\n', 'last\n']);
});

test('the end is always written, after the report of dropped lines', () => {
  const slow = paper();
  const lines = new BoundedLines(slow, dropped, 0);
  for (const line of ['a', 'b', 'c']) lines.write(() => [line]);
  lines.end(() => ['end']);
  expect(slow.written).toEqual(['a\n', 'dropped 2\nend\n']);
});
