/** Runtimes that are right too: each differs from the example runtime where the protocol leaves the choice to the runtime. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { PatientRuntime } from './faults.mjs';

class OwnIds extends PatientRuntime {
  newId() {
    return `own_${randomUUID()}`;
  }
}

/** The driver cannot tell to which call an observation belongs. */
class WithoutIds extends OwnIds {
  constructor(agent, options) {
    const anonymous = ['model', 'failure', 'human', 'question', 'consent'].map(name => [
      name,
      (_, ...rest) => agent[name](undefined, ...rest),
    ]);
    super({ ...agent, ...Object.fromEntries(anonymous) }, options);
  }
}

class Reminding extends PatientRuntime {
  constructor(agent, options) {
    const model = (id, text) => {
      agent.model(undefined, 'Reminder: be brief.');
      return agent.model(id, text);
    };
    super({ ...agent, model }, options);
  }

  argumentFault(tool, args) {
    const unknown = Object.keys(args).find(name => !Object.hasOwn(tool.inputSchema.properties ?? {}, name));
    return unknown === undefined ? super.argumentFault(tool, args) : `unknown argument ${unknown}`;
  }
}

class OtherHabits extends OwnIds {
  numbers = new Map();

  invoke(operation, args, options) {
    this.thread = `thread_${randomUUID()}`;
    return super.invoke(operation, args, options);
  }

  /** Every second thread is slow. */
  inTurn(thread, work) {
    if (!this.numbers.has(thread)) this.numbers.set(thread, this.numbers.size);
    if (this.numbers.get(thread) % 2 > 0) return super.inTurn(thread, work);
    return super.inTurn(thread, () => wait(600).then(work));
  }
}

const isText = value => typeof value === 'string';

const isMalformed = ({ type, content }) =>
  type === 'diff' ? !isText(content?.path) || !isText(content.patch) : type === 'text' && !isText(content);

/** Events that are not associative go to a child thread, each on its own. */
class ChildThreads extends PatientRuntime {
  async onResult(call, result) {
    return result.display_as?.some(isMalformed) ? 400 : super.onResult(call, result);
  }

  async onEvent(call, event) {
    if (event.associative || !this.isSubscribed(call)) return super.onEvent(call, event);
    if (event.final) call.state = 'ended';
    this.isSlow = !this.isSlow;
    void wait(this.isSlow ? 400 : 0).then(() => this.agent.model(call.id, event.text));
    return 200;
  }

  async migrate(destination) {
    const read = async ({ url }) => ({ url, toolset: await this.discover(url) });
    this.servers = await Promise.all(this.servers.map(read));
    await super.migrate(destination);
  }
}

/** Each call has a thread of its own, and the model gets what comes in every second one later. */
class LateModel extends PatientRuntime {
  constructor(agent, options) {
    const turns = new Map();
    const model = (id, text) => {
      const turn = turns.get(id) ?? { ms: turns.size % 2 === 0 ? 200 : 0, last: undefined };
      turns.set(id, turn);
      turn.last = Promise.resolve(turn.last)
        .then(() => wait(turn.ms))
        .then(() => agent.model(id, text));
    };
    super({ ...agent, model }, options);
  }

  invoke(operation, args, options) {
    this.thread = `thread_${randomUUID()}`;
    return super.invoke(operation, args, options);
  }
}

/** By what they do. */
export const VARIANTS = {
  'gives the model the messages of some calls later': LateModel,
  'reports no ids': WithoutIds,
  'makes its own ids, and uses a thread for each call': OtherHabits,
  'reminds the model of something, and refuses arguments that no inputSchema names': Reminding,
  'refuses malformed segments, gives plain events to child threads, and reads toolsets again to migrate':
    ChildThreads,
};
