/** The operators of display scripts that compare; null for another operator. */
export function compared<Value extends string | number>(
  operator: string,
  left: Value,
  right: Value,
): boolean | null {
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
    default:
      return null;
  }
}

/** The arithmetic operators; whole numbers are divided as such. Null for another operator, and for a division by zero. */
export function calculated(operator: string, left: number, right: number): number | null {
  const isWhole = Number.isInteger(left) && Number.isInteger(right);
  if (isWhole && right === 0 && (operator === '/' || operator === '%')) return null;
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return isWhole ? Math.trunc(left / right) : left / right;
    default:
      return operator === '%' ? left % right : null;
  }
}
