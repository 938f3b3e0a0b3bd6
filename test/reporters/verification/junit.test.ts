import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VERIFICATION_FORMATS } from '../../../src/render/outputs/verification.js';
import { anyCodePoint } from '../../support/characters.js';
import { BROKEN, FINE, hostile } from './reports.js';

/** A strict parser that is not ours: `[name, attributes, text, children]`, of many documents at once. */
const PARSE = `
import json, sys, xml.etree.ElementTree as etree
def told(e): return [e.tag, dict(e.attrib), (e.text or '').strip(), [told(c) for c in e]]
print(json.dumps([told(etree.fromstring(d.encode('utf-8'))) for d in json.load(sys.stdin)]))`;

type Told = readonly [
  name: string,
  attributes: Record<string, string>,
  text: string,
  children: readonly Told[],
];

function parsed(...documents: readonly string[]): readonly Told[] {
  const input = JSON.stringify(documents);
  return JSON.parse(execFileSync('python3', ['-c', PARSE], { input, encoding: 'utf8' }));
}

function suiteOf(document: string): Told {
  const [[name, , , [suite]] = ['', {}, '', []]] = parsed(document);
  if (name !== 'testsuites' || !suite) throw new Error('without test suite');
  return suite;
}

describe('one test suite', () => {
  test('in which everything passed', () => {
    const [name, attributes, , cases] = suiteOf(VERIFICATION_FORMATS.junit(FINE));
    expect([name, attributes]).toEqual([
      'testsuite',
      { name: 'mock-tool', tests: '4', failures: '0', errors: '0', skipped: '0', time: '0' },
    ]);
    expect(cases.map(([, { classname, name: title, file, line }]) => [classname, title, file, line])).toEqual(
      [
        ['mock-tool.fixtures', 'pay', 'tool.yaml', '3'],
        ['mock-tool.fixtures', 'spare', 'tool.yaml', '9'],
        ['mock-tool.calls', 'every call is answered by a fixture', undefined, undefined],
        ['mock-tool.callbacks', 'every callback is delivered', undefined, undefined],
      ],
    );
    expect(cases.flatMap(([, , , children]) => children)).toEqual([]);
  });

  test('in which much failed', () => {
    const [, attributes, , cases] = suiteOf(VERIFICATION_FORMATS.junit(BROKEN));
    expect(attributes).toMatchObject({ tests: '8', failures: '7' });
    const failures = cases.map(([, , , [failure]]) => failure && [failure[1]['type'], failure[1]['message']]);
    expect(failures).toEqual([
      undefined,
      ['unused', 'tool.json#2 was not used'],
      ['unused', 'ship was not called, expected at least 2 and at most 4'],
      ['too-few', 'few was called once, expected at least 2'],
      ['too-many', 'many was called 3 times, expected at most 2'],
      ['too-many', 'once was called 2 times, expected 1'],
      ['unmatched', expect.stringMatching(/^pay \(c1\) of thread_a: no fixture .* \(and more\)$/)],
      ['undelivered', expect.stringMatching(/^tool_result for pay .* answered 404 \(and more\)$/)],
    ]);
    expect(cases[7]?.[3][0]?.[2].split('\n')).toEqual([
      'tool_result for pay (c1) to http://127.0.0.1:9/cb: answered 404',
      'pay (c2): still pending',
      'and 100 more',
    ]);
    expect(cases[1]?.[1]).toMatchObject({ name: 'tool.json#2', file: 'tool.json' });
  });
});

describe('a strict parser takes it, whatever it holds', () => {
  test('markup is text', () => {
    const text = `</failure><x a='"'>&amp;]]>`;
    const [, , , [fixture]] = suiteOf(VERIFICATION_FORMATS.junit(hostile(text)));
    expect(fixture?.[1]['name']).toBe(text);
    expect(fixture?.[3][0]?.[2]).toBe(`${text} was not used`);
  });

  test('what XML cannot hold is made visible', () => {
    const [, , , [fixture]] = suiteOf(
      VERIFICATION_FORMATS.junit(hostile('\u0000\u001b\ud800\ufffe\n\u0085')),
    );
    expect(fixture?.[1]['name']).toBe('␀␛<U+D800><U+FFFE>␊<U+0085>');
  });

  test('any text', () => {
    const texts = fc.sample(fc.string({ unit: anyCodePoint }), 300);
    expect(parsed(...texts.map(text => VERIFICATION_FORMATS.junit(hostile(text))))).toHaveLength(
      texts.length,
    );
  });
});
