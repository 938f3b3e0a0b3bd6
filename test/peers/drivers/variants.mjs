/** Runtimes that are right too: each differs from the example runtime where the protocol leaves the choice to the runtime. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

const ownId = () => `own_${randomUUID()}`;

const makesItsOwnIds = Base =>
  class extends Base {
    newId() {
      return ownId();
    }
  };

/** The driver cannot tell to which call an observation belongs. */
const reportsNoIds = Base =>
  class extends Base {
    constructor(agent, options) {
      const anonymous = ['model', 'failure', 'human', 'question', 'consent'].map(name => [
        name,
        (_, ...rest) => agent[name](undefined, ...rest),
      ]);
      super({ ...agent, ...Object.fromEntries(anonymous) }, options);
    }

    newId() {
      return ownId();
    }
  };

/** Every second thread is slow. */
const usesAThreadForEachCall = Base =>
  class extends Base {
    numbers = new Map();

    invoke(operation, args, options) {
      return super.invoke(operation, args, { ...options, thread: `thread_${randomUUID()}` });
    }

    inTurn(thread, work) {
      if (!this.numbers.has(thread)) this.numbers.set(thread, this.numbers.size);
      if (this.numbers.get(thread) % 2 > 0) return super.inTurn(thread, work);
      return super.inTurn(thread, () => wait(600).then(work));
    }

    async close() {
      for (const call of this.openCalls()) call.state = 'canceled';
      const notices = [...this.threads].map(id => this.notify('/close_thread', { thread_id: id }));
      await Promise.all(notices);
      this.listener.close();
      this.listener.closeAllConnections();
    }
  };

/** Only a delivery that came again must be answered 200. */
const answers204 = Base =>
  class extends Base {
    async onResult(call, result) {
      await super.onResult(call, result);
      return 204;
    }
  };

const remindsTheModel = Base =>
  class extends Base {
    constructor(agent, options) {
      const model = (id, text) => {
        agent.model(undefined, 'Reminder: be brief.');
        return agent.model(id, text);
      };
      super({ ...agent, model }, options);
    }
  };

/** By name. */
export const VARIANTS = {
  'makes its own ids': makesItsOwnIds,
  'reports no ids': reportsNoIds,
  'uses a thread for each call': usesAThreadForEachCall,
  'answers results with 204': answers204,
  'reminds the model of something': remindsTheModel,
};
