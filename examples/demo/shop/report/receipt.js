export function receipt(lines) {
  return lines.map(({ name, amount }) => `${name} ${(amount / 100).toFixed(2)}`).join('\n');
}
