const NAME_WIDTH = 20;

export function receipt(lines) {
  return lines.map(({ name, amount }) => `${name.padEnd(NAME_WIDTH)} ${(amount / 100).toFixed(2)}`).join('\n');
}
