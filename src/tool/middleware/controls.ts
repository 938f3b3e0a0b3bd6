/** C0, DEL and C1, which no text needs but for its line feeds and tabs. */
const CONTROL = /(?![\n\t])\p{Cc}/u;
const CONTROLS = new RegExp(CONTROL, 'gu');

export function hasControls(text: string): boolean {
  return CONTROL.test(text);
}

export function withoutControls(text: string): string {
  return text.replace(CONTROLS, '');
}
