import { createContext, useContext, useEffect } from 'react';
import { currentNotices, type ScreenState } from './screen/state.js';

/** Draws the screen again after a moment. Returns how to cancel that. */
export const TickContext = createContext<() => () => void>(() => () => {});

/** Draws the screen again and again while time changes what it shows. */
export function useTick(isRunning: boolean): void {
  const drawSoon = useContext(TickContext);
  useEffect(() => (isRunning ? drawSoon() : undefined));
}

/** Draws the screen again until its notices have ended. */
export function useNoticeTick(state: ScreenState<unknown>, now: number): void {
  useTick(currentNotices(state, now).some(({ until }) => Number.isFinite(until)));
}
