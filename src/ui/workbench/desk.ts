import type { Event } from '../../exchange/events.js';
import type { Clock } from '../../system/clock.js';
import { Notices } from '../notices.js';
import type { Controls, Said } from './controls.js';
import type { House } from './doings/index.js';
import { lookingAt } from './looking.js';
import type { SessionOptions } from './options.js';
import { FIRST_STATE, type State } from './state/state.js';
import type { World } from './world.js';

/** What a session works at: its state as it is now, and what there is to say. */
export class Desk implements House {
  readonly world: World;
  readonly controls: Controls;
  readonly notices = new Notices();
  state: State = FIRST_STATE;
  most = 0;
  readonly #clock: Clock;
  /** When the events of this session began, by the clock. */
  #start: number;

  constructor(
    { world, controls, clock }: Pick<SessionOptions, 'world' | 'controls' | 'clock'>,
    private readonly onChange: () => void,
  ) {
    this.world = world;
    this.controls = controls;
    this.#clock = clock;
    this.#start = clock.now();
  }

  event({ at }: Event): void {
    this.#start = this.#clock.now() - at;
  }

  /** Ms since the start. */
  get now(): number {
    return this.#clock.now() - this.#start;
  }

  get looking() {
    return lookingAt(this.state, this.world);
  }

  readonly change = (change: Partial<State>): void => {
    this.state = { ...this.state, ...change };
    this.onChange();
  };

  readonly say = (said: Said | null): void => {
    if (said) this.notices.key(said.text, this.now, said.isBad ? 'bad' : 'good');
    this.onChange();
  };

  /** Of what a key did to the eye, if there is anything to say. */
  tell(said: string | null): void {
    if (said !== null) this.notices.key(said, this.now);
  }
}
