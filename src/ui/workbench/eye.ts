import { missing } from '../calls/lists.js';
import { isReading } from '../calls/reading-command.js';
import type { Size } from '../terminal.js';
import type { Desk } from './desk.js';
import type { Drawing } from './drawing.js';
import type { Command } from './keys/bindings.js';
import { sheetRoom, stageOf } from './stage.js';
import { type Stage, update } from './state/update.js';

/** What a person looks at: it is moved through lists, and through what is read. */
export class Eye {
  /** The room of the page in the last frame: keys mean what was seen. */
  body: Size = { columns: 80, rows: 20 };

  constructor(
    private readonly desk: Desk,
    private readonly drawing: Drawing,
  ) {}

  move(command: Command): void {
    if (!this.#read(command)) this.#go(command);
  }

  search(wanted: string): void {
    const { page, calls, tools } = this.desk.state;
    if (page === 'calls' && calls.focus !== 'list') {
      this.desk.tell(this.drawing.sheet.search(wanted, calls, this.#readable, this.#room));
      return;
    }
    this.desk.change(page === 'tools' ? { tools: { ...tools, wanted } } : { calls: { ...calls, wanted } });
    this.move('nextMatch');
  }

  #read(command: Command): boolean {
    const { page, calls } = this.desk.state;
    if (page !== 'calls' || !isReading(command, calls.focus)) return false;
    this.desk.tell(this.drawing.sheet.step(command, calls, this.#readable, this.#room));
    return true;
  }

  #go(command: Command): void {
    const { state, world, looking } = this.desk;
    const parts = this.drawing.sheet.partsOf(state.calls, this.#readable, this.#room);
    const stage = stageOf(state, world, looking, parts);
    if (command === 'nextMatch' || command === 'previousMatch') this.desk.tell(this.#missingIn(stage));
    this.desk.change(update(state, command, stage));
  }

  #missingIn({ entries, calls }: Stage): string | null {
    const { page, tools, calls: browsing } = this.desk.state;
    return page === 'tools' ? missing(entries, tools.wanted) : missing(calls, browsing.wanted);
  }

  get #readable() {
    return this.drawing.readable(this.desk.looking);
  }

  get #room(): Size {
    return sheetRoom(this.desk.state, this.desk.looking, this.body);
  }
}
