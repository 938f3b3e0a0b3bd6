/** What to say of what did not come in time: seed 004 knows no time that a tool must keep. */
export const MAY_TAKE_LONGER = 'and a tool may take longer: --probe-timeout waits for it';
