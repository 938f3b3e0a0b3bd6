import { describe, expect, test } from 'vitest';
import { probing, sentBy } from './probing.js';
import { operation, post, resultOf, startRawTool } from './tools.js';

/** A tool whose operations end in the given texts. */
function startWith(texts: Readonly<Record<string, string>>) {
  return startRawTool({
    toolset: url => ({
      name: 'raw',
      endpoint: `${url}/invoke`,
      tools: Object.keys(texts).map(name => operation(name)),
    }),
    invoked(invocation, response) {
      response.end();
      const text = texts[String(invocation['operation'])] ?? 'Error: unknown operation';
      void post(invocation['callback_url'], resultOf(invocation, { text }));
    },
  });
}

const ABSENT = 'Error: repo not found';

async function warningsOf(texts: Readonly<Record<string, string>>, options: object = {}) {
  await using tool = await startWith(texts);
  const { eventsOfKind } = await probing(tool.url, { wants: id => id === 'TOOL-CALLID', ...options });
  return eventsOfKind('warned').map(({ message }) => message);
}

describe('operations that end in errors alone', () => {
  const ofRepo =
    /^nothing but errors was seen of repo \("Error: repo not found"\), .* write cases .*--cases.* thread/;

  test('are named if nothing else was seen', async () => {
    expect(await warningsOf({ repo: ABSENT })).toEqual([expect.stringMatching(ofRepo)]);
  });

  test('are named if they were selected', async () => {
    const texts = { repo: ABSENT, list: 'one' };
    expect(await warningsOf(texts, { operations: ['repo'] })).toEqual([expect.stringMatching(ofRepo)]);
    expect(await warningsOf(texts)).toEqual([]);
  });

  test('are not named if a case calls them', async () => {
    const cases = [{ place: 'c.yaml:1', operation: 'repo', arguments: {}, offers: [] }];
    expect(await warningsOf({ repo: ABSENT }, { cases })).toEqual([]);
  });

  test('serve for other probes only if no operation ends in another result', async () => {
    await using tool = await startWith({ repo: ABSENT, list: 'one' });
    const { callsOf } = await probing(tool.url, { wants: id => id === 'TOOL-CALLID' });
    expect(callsOf('call-id').map(call => sentBy(call)['operation'])).toEqual(['list', 'list']);
  });
});
