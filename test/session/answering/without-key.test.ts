import { expect, it } from 'vitest';
import { Content } from '../../../src/events/content.js';
import type { Event } from '../../../src/events/events.js';
import { createLog } from '../../../src/events/log.js';
import { withoutKey } from '../../../src/session/client/answering.js';
import { textOfEvent } from '../../support/events-text.js';

const KEY = 'sk-very/secret key';

function told(key = KEY) {
  const log = createLog(() => 0);
  const events: Event[] = [];
  log.subscribe(event => events.push(event));
  return { log: withoutKey(log, key), events };
}

it('a key that a platform gives back is told nowhere', () => {
  const { log, events } = told();
  const said = `your key ${KEY}, or ${encodeURIComponent(KEY)}`;
  log.emit({ kind: 'warned', message: said, calls: [said] });
  log.emit({ kind: 'session', status: 'failed', error: said, answer: { [KEY]: [said] } });
  const pending = [{ key: said, tool_name: said, args: { deep: [{ said }] }, id: said }];
  log.emit({ kind: 'awaiting', pending });
  log.emit({ kind: 'answered', by: 'client', body: Content.ofJson({ said }) });
  log.emit({
    kind: 'response',
    leg: 'l1',
    status: 429,
    headers: { server: KEY },
    body: new Content(Buffer.from(`"${said}"`)),
  });
  const texts = events.map(textOfEvent);
  expect(texts.join('\n')).not.toMatch(/secret/);
  expect(texts.every(text => text.includes('[redacted]'))).toBe(true);
  expect(pending[0]?.tool_name).toBe(said); // what is answered is not what is told
});

it('whatever has no key in it stays as it came', () => {
  const { log, events } = told();
  const body = new Content(Buffer.from([0xff, 0xfe]));
  log.emit({ kind: 'response', leg: 'l1', status: 200, headers: {}, body });
  log.emit({ kind: 'session', status: 'running' });
  expect(events).toEqual([
    { kind: 'response', leg: 'l1', status: 200, headers: {}, body, seq: 0, at: 0 },
    { kind: 'session', status: 'running', seq: 1, at: 0 },
  ]);
});

it('a key that is too short to be one takes nothing out', () => {
  const { log, events } = told('a');
  log.emit({ kind: 'warned', message: 'as it is' });
  expect(events).toMatchObject([{ message: 'as it is' }]);
});
