import { describe, expect, test } from 'vitest';
import { textReporter } from '../../src/render/outputs/text.js';
import {
  acknowledged,
  arrives,
  at,
  call,
  eventsOf,
  type Moment,
  OAUTH,
  RESULT,
  resultArrives,
} from '../events/build.js';
import { event } from '../render/flows.js';
import { report } from './report.js';

const eventsOfCall = (...rest: Moment[][]) => eventsOf(at(0, call()), at(3, acknowledged()), ...rest);
const outputOf = (rest: Moment[], { isTTY = false, quiet = false, follows = false } = {}) =>
  report(page => textReporter(page, follows), eventsOfCall(rest), { quiet, isTTY });

describe('RT-TEXT: stdout is exactly what the LLM gets', () => {
  test.each(['', 'done', 'a\r\nb\n', '\u0000\u001b[31m', '😀'.repeat(50_000), '{"a":1}'])(
    '%#: byte for byte',
    async text => {
      expect((await outputOf(resultArrives({ text }))).stdout).toBe(text);
    },
  );

  test('row 20: a lone surrogate becomes U+FFFD, with a warning', async () => {
    const { stdout, stderr } = await outputOf(resultArrives({ text: 'a\ud800b' }));
    expect(stdout).toBe('a\ufffdb');
    expect(stderr).toContain('lone surrogate; it is sent as U+FFFD [RT-SANITIZE]');
  });

  test('row 24: makes the text safe to print on a terminal', async () => {
    expect((await outputOf(resultArrives({ text: '\u001b[31m' }), { isTTY: true })).stdout).toBe('␛[31m\n');
  });
});

describe('--follow: the result, then the text of each event on a line of its own', () => {
  const opened = resultArrives({ text: 'a\r\n\u0000', subscription: true });
  const news = (...texts: string[]) => [
    ...opened,
    ...texts.flatMap((text, index) => event(`e${index}`, { text })),
  ];

  test.each([[['one', 'two']], [['', 'b\r\n', '\u0000']], [[]]])('%j, byte for byte', async texts => {
    const { stdout } = await outputOf(news(...texts), { follows: true });
    expect(stdout).toBe(['a\r\n\u0000', ...texts].map(text => `${text}\n`).join(''));
  });

  test('reports discarded events on stderr only', async () => {
    const after = [
      ...news('one'),
      ...event('e8', { final: true, text: 'last' }),
      ...event('e9', { text: 'more' }),
    ];
    const { stdout, stderr } = await outputOf(after, { follows: true });
    expect(stdout).toBe('a\r\n\u0000\none\nlast\n');
    expect(stderr).toContain(
      'a subscription_event was discarded with 404: the subscription has ended [TOOL-SUB]',
    );
  });

  test('row 24: on a terminal, makes each text safe to print, on one line', async () => {
    const { stdout } = await outputOf(news('\u001b[2J'), { follows: true, isTTY: true });
    expect(stdout).toBe('a␍\n␀\n␛[2J\n');
  });
});

describe('stderr gets everything else', () => {
  const forged = arrives({ ...RESULT, id: 'x' }, { status: 404 });

  test('RT-OAUTH: a whole consent URL, immediately', async () => {
    const { stdout, stderr } = await outputOf(
      arrives({ ...OAUTH, auth_url: 'https://auth.example/?state=1' }),
    );
    expect([stdout, stderr]).toEqual(['', 'visit this URL to continue: https://auth.example/?state=1\n']);
  });

  test('-q: no warnings', async () => {
    expect((await outputOf(forged, { quiet: true })).stderr).toBe('');
  });
});
