import { runHere } from '../../e2e/support/in-process.js';

export type What = string | Uint8Array | object;

export const textOf = (what: What) =>
  typeof what === 'string' || what instanceof Uint8Array ? what : JSON.stringify(what);
export const render = (what: What, ...words: string[]) =>
  runHere(['render', '-', ...words], { stdin: textOf(what) as string });
export const reportOf = async (what: What, ...words: string[]) => {
  const { stdout, stderr } = await render(what, '-o', 'json', ...words);
  return stdout === '' ? stderr : JSON.parse(stdout);
};
