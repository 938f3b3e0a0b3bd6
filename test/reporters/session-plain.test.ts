import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { Content } from '../../src/events/content.js';
import { createLog } from '../../src/events/log.js';
import { sessionPlain } from '../../src/render/outputs/server-plain.js';
import { createRedactor } from '../../src/util/redact.js';

async function told(answer: unknown): Promise<string[]> {
  let now = 0;
  const log = createLog(() => now);
  const stream = new PassThrough();
  log.subscribe(sessionPlain(stream, { level: 0, redactor: createRedactor(['key-0815']) }));
  const about = { thread: 's', calls: ['call_1'] };
  const pending = [{ key: 'call_1', tool_name: 'lookup', args: { a: 1 }, id: 'call_1' }];
  log.emit({ kind: 'session', status: 'running', thread: 's' });
  log.emit({ kind: 'awaiting', round: 0, pending, ...about });
  now = 1_500;
  log.emit({ kind: 'answered', by: 'platform', body: Content.ofJson(answer), ...about });
  log.emit({ kind: 'session', status: 'completed', answer: 'done', thread: 's' });
  stream.end();
  return (await text(stream)).trimEnd().split('\n');
}

const tool_req = { tool_name: 'lookup', args: { a: 1 }, id: 'call_1' };

test('foreign text is safe to print, and has no secrets', async () => {
  const lines = (await told({ kind: 'tool_result', tool_req, result: 'key-0815 \u001b[2J\nover' })).join(
    '\n',
  );
  for (const bad of ['key-0815', '\u001b']) expect(lines).not.toContain(bad);
  expect(lines).toContain('[redacted]');
  expect(lines.split('\n')).toHaveLength(4);
});
