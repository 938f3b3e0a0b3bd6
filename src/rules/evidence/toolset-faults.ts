import type { Discovery } from './evidence.js';

const OF_A_NAME = /^\$\.tools\[\d+\]\.name: /;

/** What is wrong with a document, or worth a warning, of the names of its tools and of everything else. */
export interface ToolsetFaults {
  readonly names: readonly string[];
  readonly rest: readonly string[];
}

export function toolsetFaults({ reading }: Discovery): ToolsetFaults {
  return parted(reading && !reading.ok ? reading.faults : []);
}

export function toolsetNotes({ reading }: Discovery): ToolsetFaults {
  return parted(reading?.ok ? reading.notes : []);
}

function parted(faults: readonly string[]): ToolsetFaults {
  return {
    names: faults.filter(fault => OF_A_NAME.test(fault)),
    rest: faults.filter(fault => !OF_A_NAME.test(fault)),
  };
}
