import type { CallFile } from '../../../exchange/recent-events.js';
import type { Clock } from '../../../system/clock.js';
import { RecentMap } from '../../../text/recent-map.js';
import { isLightToJudge } from '../../calls/light.js';
import type { ProblemCount } from '../../calls/problem-titles.js';

/** Somebody has looked at the same call for so long. */
const PAUSE_MS = 200;
const REMEMBERED = 1_000;

interface Known {
  readonly broken: number;
  /** Of how many events. */
  readonly events: number;
}

/** How many requirements the runtime broke in the call that is looked at: judged in the background, one call at a time. */
export class RuntimeVerdicts {
  readonly #known = new RecentMap<string, Known>(REMEMBERED);
  #waiting: string | null = null;
  #stop = () => {};

  /**
   * @param judge the call with this key; what came of it is {@link note}d
   * @param onChange a verdict is another one now, though no event came
   */
  constructor(
    private readonly clock: Clock,
    private readonly judge: (key: string) => Promise<unknown>,
    private readonly onChange: () => void,
  ) {}

  /** What is known by now. */
  glance(key: string, file: CallFile | undefined): ProblemCount {
    const { broken = 0, events = 0 } = this.#known.get(key) ?? {};
    const isJudged = !file || file.events.length + file.forgotten === events;
    const isLeft = !isJudged && !isLightToJudge(file.events);
    if (!isJudged && !isLeft) this.#ask(key);
    return { broken, isLeft };
  }

  note(key: string, known: Known): void {
    this.#known.set(key, known);
  }

  /** Nobody looks any more. */
  close(): void {
    this.#stop();
  }

  /** Whoever goes through a list is not kept waiting for it. */
  #ask(key: string): void {
    if (this.#waiting === key) return;
    this.#waiting = key;
    this.#stop();
    this.#stop = this.clock.after(PAUSE_MS, () => void this.#judge(key));
  }

  async #judge(key: string): Promise<void> {
    const before = this.#known.get(key)?.broken ?? 0;
    await this.judge(key).catch(() => {}); // whoever reads of it is told
    if (this.#waiting === key) this.#waiting = null;
    if ((this.#known.get(key)?.broken ?? 0) !== before) this.onChange();
  }
}
