import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The licences of what is bundled: MIT and its kin ask for their notice wherever their code goes. */
export async function writeNotices(inputs, outdir) {
  const packages = new Set(inputs.map(packageOf).filter(Boolean));
  const notices = await Promise.all([...packages].sort().map(notice));
  await writeFile(join(outdir, 'THIRD-PARTY-NOTICES.txt'), notices.join(`\n${'-'.repeat(72)}\n\n`));
}

function packageOf(path) {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[0];
}

async function notice(folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find(entry => /^licen[cs]e/i.test(entry));
  return `${name} ${version} (${license})\n\n${file ? await readFile(join(folder, file), 'utf8') : ''}`;
}
