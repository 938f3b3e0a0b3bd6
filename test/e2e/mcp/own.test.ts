import { expect, test } from 'vitest';
import { runHere } from '../support/in-process.js';
import { argv, shellLine } from '../support/program.js';

const OURS = shellLine(argv`mock-tool --demo --mcp stdio`);

test('our client calls our server', async () => {
  const { status, stdout } = await runHere(argv`invoke --mcp ${OURS} edit_file path=src/main.rs -o json`);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    dialect: 'mcp',
    outcome: { type: 'success', basis: 'declared' },
    llm: { text: 'Replaced text in src/main.rs' },
  });
});
