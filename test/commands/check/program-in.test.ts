import { expect, test } from 'vitest';
import { programIn } from '../../../src/commands/check/program-in.js';

test.each([
  ['node server.mjs --token s3cr3t', '--command node'],
  ['TOKEN=s3cr3t /usr/bin/python3 tool.py', '--command python3'],
  [`TOKEN="s3cr3t and more" KEY='a b' ./tool`, '--command tool'],
  ['"/opt/my tools/serve" --key s3cr3t', '--command serve'],
  ['', '--command'],
])('row 25: of the command %s a report has the program alone', (command, shown) => {
  expect(programIn(command)).toBe(shown);
});
