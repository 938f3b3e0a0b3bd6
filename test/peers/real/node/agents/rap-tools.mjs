/** The operations of the tool servers in TOOL_URLS, called through the example runtime of this project. */
import { randomUUID } from 'node:crypto';
import { Runtime } from '../../../../../fixtures/runtimes/node/runtime.mjs';

export const PROMPT = 'Do what I want.';

/** `all` has the tools with a unique name; `call` resolves to the text for the model, which begins with "Error: " after a failure. */
export async function openTools() {
  const answers = new Map();
  const answer = (id, text) => answers.get(id)?.(text);
  const ignore = () => {};
  const runtime = new Runtime({
    model: answer,
    failure: answer,
    ...{ human: ignore, question: ignore, consent: ignore, view: ignore, migrated: ignore },
  });
  await runtime.open(JSON.parse(process.env.TOOL_URLS));
  const tools = runtime.servers.flatMap(({ toolset }) => toolset?.tools ?? []);
  return {
    all: tools.filter(({ name }) => tools.filter(each => each.name === name).length === 1),
    call: (operation, args) =>
      new Promise((resolve, reject) => {
        const id = `call_${randomUUID()}`;
        answers.set(id, resolve);
        runtime.invoke(operation, args, { id }).catch(reject);
      }),
    close: () => runtime.close(),
  };
}
