import { expect, test } from 'vitest';
import type { ShellLine } from '../../../../src/tui/workbench/model.js';
import { call, resultArrives } from '../../../events/build.js';
import { onCalls } from '../support/open-session.js';

test.each([
  ['is shown to anyone who waited for it', [], true],
  ['leaves alone anyone who has gone on to something else', ['t'], false],
])('a command line %s', async (_, keys, isShown) => {
  let give: (line: ShellLine) => void = () => {};
  const asCommand = () => new Promise<ShellLine>(resolve => (give = resolve));
  const session = onCalls([...call(), ...resultArrives()], { controls: { asCommand } });
  session.press('Y', ...keys);
  give({ text: 'protocol-cli invoke :3001 late', gaps: [] });
  await session.settles();
  expect(session.sees().includes('protocol-cli invoke :3001 late')).toBe(isShown);
  expect(session.asked).toEqual(isShown ? ['copy protocol-cli invoke :3001 late'] : []);
});
