import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Folder, temporaryFolder } from './folder.js';

/** A folder whose `.infinity/rap.json` names these tool servers, and these commands that start one. */
export async function configuredFolder(
  urls: readonly string[],
  commands: readonly string[] = [],
): Promise<Folder> {
  const folder = await temporaryFolder();
  await mkdir(join(folder.path, '.infinity'));
  const tool_sets = [
    ...urls.map(server_url => ({ type: 'toolset_server', server_url })),
    ...commands.map(command => ({ type: 'toolset_command', command })),
  ];
  await writeFile(folder.file('.infinity/rap.json'), JSON.stringify({ tool_sets }));
  return folder;
}
