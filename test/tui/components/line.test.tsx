import { expect, test } from 'vitest';
import { quote, say } from '../../../src/render/line.js';
import { Line, Lines } from '../../../src/tui/components/Line.js';
import { rowsOf } from '../drawn.js';

const visible = (rows: readonly string[]) => rows.map(row => row.replaceAll('\u001b', '␛'));

test('a line is cut to its width, and shows control characters', () => {
  expect(rowsOf(<Line line={[say('one '), ...quote('two\u0007')]} width={20} />, 20)).toEqual(['one two␇']);
  expect(rowsOf(<Line line={[say('one '), say('two')]} width={6} />, 20)).toEqual(['one t…']);
});

test('the tones of a line are colours, as far as the terminal has them', () => {
  const line = <Line line={[say('✗', 'bad'), say(' plain '), say('title', 'title')]} width={20} />;
  expect(visible(rowsOf(line, 20, 1))).toEqual(['␛[31m✗␛[39m plain ␛[1mtitle␛[22m']);
  expect(rowsOf(line, 20, 0)).toEqual(['✗ plain title']);
});

test('an empty line takes a row', () => {
  expect(rowsOf(<Lines lines={[[say('one')], [], [say('three')]]} width={20} />, 20)).toEqual([
    'one',
    '',
    'three',
  ]);
});

test('lines take as many rows as they get', () => {
  const lines = [[say('one')], [say('two')]];
  expect(rowsOf(<Lines lines={lines} width={20} height={4} />, 20)).toEqual(['one', 'two', '', '']);
  expect(rowsOf(<Lines lines={lines} width={20} height={0} />, 20)).toEqual(['']);
});
