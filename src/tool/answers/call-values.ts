import { randomUUID } from 'node:crypto';
import type { Answered } from '../../fixtures/answer.js';
import type { TemplateValues } from '../../fixtures/template.js';
import type { Invocation } from '../../protocol/invocation.js';
import type { Clock } from '../../system/clock.js';

/** What templates may ask of a call. A class, and not an object with getters: one is made for every call. */
export class CallValues implements TemplateValues {
  constructor(
    private readonly invocation: Invocation,
    private readonly answered: Pick<Answered, 'key' | 'count'>,
    private readonly clock: Pick<Clock, 'wall'>,
  ) {}

  get operation() {
    return this.invocation.operation;
  }

  get arguments() {
    return this.invocation.arguments;
  }

  get id() {
    return this.invocation.id;
  }

  get call_id() {
    return this.invocation.call_id;
  }

  get group_id() {
    return this.invocation.group_id;
  }

  get user_id() {
    return this.invocation.user_id;
  }

  get thread_ancestors() {
    return this.invocation.thread_ancestors;
  }

  get key() {
    return this.answered.key;
  }

  get count() {
    return this.answered.count;
  }

  /** Costs something, and is seldom asked for; so is the next. */
  get now() {
    return this.clock.wall().toISOString();
  }

  get uuid() {
    return randomUUID();
  }
}
