/** A display segment as it came: its type is open, its content not yet looked at (seed 000, "Display Segments"). */
export interface Segment {
  readonly type: string;
  readonly content?: unknown;
}
