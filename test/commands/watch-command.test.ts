import { expect, test } from 'vitest';
import { watchCommand } from '../../src/commands/watch-command.js';
import { temporaryFolder } from '../e2e/support/folder.js';

test.each([
  ['node server.mjs', 'server.mjs'],
  ['node "my server.mjs" --port 0', 'my server.mjs'],
  ["node 'my server.mjs' && true", 'my server.mjs'],
])('--watch finds the file of the command: %s', async (command, name) => {
  await using folder = await temporaryFolder();
  await folder.write(name, '');
  const watching = watchCommand(command, folder.path, () => {});
  await expect(watching).resolves.toBeDefined();
  (await watching).close();
});
