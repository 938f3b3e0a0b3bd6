import { expect, test } from 'vitest';
import { REQUIREMENTS } from '../../../src/check/rules/all.js';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { unsafeIn } from '../../e2e/support/text.js';
import { HOSTILE, LOOK, STORY } from './story-of.js';

/** What acts on a terminal, or is a workflow command, is shown and broken. */
const SHOWN = HOSTILE.replace('\u001b', '␛').replace('::error', '<U+003A>:error');

/** As the runner of GitHub Actions reads a line: `::name key=value,…::message`, each part unescaped. */
function readCommand(line: string) {
  const [, name, properties = '', message = ''] = /^::([a-z]+) ([^\n]*?)::(.*)$/.exec(line) ?? [];
  const entries = properties
    .split(',')
    .map(each => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]);
  const plain = Object.fromEntries(entries.map(([key, value = '']) => [key, unescaped(value, true)]));
  return { name, properties: plain, message: unescaped(message, false) };
}

function unescaped(text: string, isProperty: boolean): string {
  const plain = isProperty ? text.replaceAll('%3A', ':').replaceAll('%2C', ',') : text;
  return plain.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
}

const text = CHECK_FORMATS.github(STORY, LOOK);
const commands = text.trimEnd().split('\n').map(readCommand);
const titled = (title: RegExp) => commands.find(({ properties }) => title.test(properties['title'] ?? ''));

test('whatever is foreign stays within its command', () => {
  expect(text.trimEnd().split('\n')).toHaveLength(8);
  expect(titled(/TOOL-FALLBACK/)?.message).toBe(`${SHOWN}\nto do: ${REQUIREMENTS['TOOL-FALLBACK'].advice}`);
  expect(unsafeIn(text)).toEqual([]);
});

test('an id is one line of the message', () => {
  const { run } = STORY;
  const calls = [{ operation: HOSTILE, id: HOSTILE }];
  const checks = run.checks.map(row => (row.id === 'TOOL-ID' ? { ...row, calls } : row));
  const hostile = CHECK_FORMATS.github({ ...STORY, run: { ...run, checks } }, LOOK)
    .split('\n')
    .map(readCommand);
  const { message = '' } = hostile.find(({ properties }) => properties['title'] === 'TOOL-ID (MUST)') ?? {};
  const line = SHOWN.replace('\n', '␊');
  expect(message.split('\n').slice(1, 3)).toEqual([`call: ${line} · ${line}`, 'expected: call_abc123']);
});
