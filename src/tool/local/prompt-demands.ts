import { type Demand, Demands } from '../conversation/demands.js';

/** Nobody is there to say that it is time, so it always is. */
export class PromptDemands extends Demands {
  override wait(): Demand {
    return { fired: Promise.resolve(true), leave: () => {} };
  }
}
