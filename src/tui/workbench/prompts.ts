import { fixtureName, type Said, TRANSCRIPT_NAME } from './model.js';
import { serverKey } from './tools.js';
import type { Workbench } from './workbench.js';

/** Asks for the URL of a tool server, opens it, and selects it. */
export function askServer(workbench: Workbench, text = ''): void {
  const { world } = workbench;
  const complete = async (typed: string) => {
    const urls = world.servers.map(({ about }) => about).filter(about => URL.canParse(about));
    return ['demo', ...urls].filter(word => word.startsWith(typed)).sort();
  };
  workbench.ask('Tool server (URL, :port or demo): ', typed => openServer(workbench, typed), {
    text,
    complete,
  });
}

export function openDemo(workbench: Workbench): void {
  openServer(workbench, 'demo');
}

function openServer(workbench: Workbench, typed: string): void {
  const { controls, tools } = workbench;
  if (typed.trim() === '') return;
  const opened = controls.open(typed.trim());
  if ('isBad' in opened) {
    askServer(workbench, typed);
    workbench.say(opened);
  } else {
    tools.set({ selected: serverKey(opened.server) });
    workbench.go('tools');
  }
}

export function askTranscript(workbench: Workbench, text = ''): void {
  workbench.ask('Open transcript: ', typed => void openTranscript(workbench, typed), {
    text,
    complete: workbench.controls.paths,
  });
}

/** Opens a transcript and shows its calls, unless the user is typing something else by then. */
export async function openTranscript(workbench: Workbench, typed: string): Promise<void> {
  const { world, controls, position } = workbench;
  if (typed.trim() === '') return;
  const known = new Set(world.volumes);
  const said = await controls.openTranscript(typed.trim());
  const volume = world.volumes.find(each => !known.has(each)); // a file that is opened again is a new volume too
  if (!volume && said.isBad && workbench.isAt(position)) askTranscript(workbench, typed);
  workbench.say(said);
  if (volume && !workbench.overlay && workbench.page !== 'form') workbench.showCalls(volume.id);
}

export function askSaveTranscript(workbench: Workbench): void {
  const { saveTranscript } = workbench.controls;
  void askPath(workbench, 'Save the transcript as: ', TRANSCRIPT_NAME, saveTranscript);
}

export function askSaveFixture(workbench: Workbench): void {
  const { exchange, volume, controls } = workbench;
  if (!exchange) return void workbench.complain('No call to save.');
  if (!exchange.settled)
    return void workbench.complain('The call has no result yet that a fixture could replay.');
  const save = (path: string) => controls.saveFixture(exchange.key, volume.id, path);
  void askPath(workbench, 'Save as fixture: ', fixtureName(exchange.invocation.operation), save);
}

/** Suggests a free file name as soon as it is known, unless the user types already; asks again after a failure. */
async function askPath(
  workbench: Workbench,
  label: string,
  name: string,
  save: (path: string) => Promise<Said>,
): Promise<void> {
  const { controls } = workbench;
  const ask = (text: string) =>
    workbench.ask(label, typed => void saveAs(typed), { text, complete: controls.paths });
  const saveAs = async (typed: string) => {
    if (typed.trim() === '') return;
    const { position } = workbench;
    const said = await save(typed.trim());
    if (said.isBad && workbench.isAt(position)) ask(typed);
    workbench.say(said);
  };
  ask(name);
  const asked = workbench.overlay;
  const free = await controls.freeName(name);
  if (workbench.overlay === asked) ask(free);
}
