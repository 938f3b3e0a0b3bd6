import { openRuntime, type Runtime } from '../../../peers/runtime.mjs';
import { harmless, operation, type RawToolOptions, startRawTool } from '../../../probes/tools.js';
import { temporaryFolder } from '../../support/folder.js';
import { startRecorderHere, transcriptIn } from '../../support/recorder.js';
import { type BrokenRuntime, brokenIn } from './broken-runtime.js';

type Act = (runtime: Runtime, url: string) => Promise<unknown>;

export const FAILING: RawToolOptions = { noticed: response => void response.writeHead(503).end() };
const INVALID: RawToolOptions = {
  toolset: url => ({ ...harmless(url), tools: [operation('op'), operation('no good')] }),
};

/** What a recorder saw between a runtime and a tool that fails, neither of them with our code. */
export const RECORDED: readonly BrokenRuntime[] = [
  recorded('RT-NOTIFY', 'cancels again where that failed', FAILING, (runtime, url) =>
    twice(() => runtime.cancel(url, 'thread_1', 'call_1')),
  ),
  recorded('RT-NOTIFY', 'closes again where that failed', FAILING, (runtime, url) =>
    twice(() => runtime.closeThread(url, 'thread_1')),
  ),
  recorded('RT-TOOLSET', 'calls what an invalid toolset offers', INVALID, (runtime, url) =>
    runtime.invoke(url, 'op', {}),
  ),
];

/** What a recorder saw of a runtime. */
export async function findingsBetween(options: RawToolOptions, act: Act): Promise<readonly string[]> {
  await using tool = await startRawTool(options);
  await using folder = await temporaryFolder();
  const file = folder.file('between.ndjson');
  const recorder = await startRecorderHere([tool.url, '--save', file, '-q']);
  await using runtime = await openRuntime();
  await act(runtime, recorder.url);
  await recorder.stop();
  return brokenIn((await transcriptIn(file)).events, 'recorder');
}

function recorded(
  breaks: BrokenRuntime['breaks'],
  does: string,
  options: RawToolOptions,
  act: Act,
): BrokenRuntime {
  return { breaks, does, findings: () => findingsBetween(options, act) };
}

async function twice(send: () => Promise<unknown>) {
  await send();
  await send();
}
