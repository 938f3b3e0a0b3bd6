/** As `5,000`. */
export function grouped(number: number): string {
  return number.toString().replaceAll(/\B(?=(\d{3})+$)/g, ',');
}
