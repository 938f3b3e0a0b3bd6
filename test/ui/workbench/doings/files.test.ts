import { expect, test } from 'vitest';
import { call, eventsOf, KEY, resultArrives } from '../../../exchange/build.js';
import { openSession } from '../support/open-session.js';

const settled = [...call(), ...resultArrives({ text: 'done' })];

test('a call is saved of the transcript that it was asked about in, though another is opened again meanwhile', async () => {
  const session = openSession({ opened: ['a.ndjson', 'b.ndjson'] });
  const b = session.world.volumes[2];
  for (const event of eventsOf(settled)) b?.book.apply(event);
  session.press('c', 'V', 'V', 's');
  await session.options.controls.openTranscript('a.ndjson');
  expect(session.world.volumes[1]).toBe(b);
  session.press('<enter>');
  await session.settles();
  expect(session.asked.at(-1)).toBe(`saveFixture ${KEY} ${b?.id} edit_file.yaml`);
  expect(session.sees()).toContain('b.ndjson');
});
