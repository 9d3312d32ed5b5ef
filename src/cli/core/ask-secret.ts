import { readFileSync } from 'node:fs';
import { CliError, EXIT } from './exit.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const DELETE = new Set(['\u007f', '\b']);

/** A line that is typed or pasted on the terminal without being shown; without a terminal, all of standard input. */
export async function askSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return readFileSync(0, 'utf8');
  stderr.write(question);
  stdin.setRawMode(true);
  try {
    return await readHiddenLine(stdin);
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}

async function readHiddenLine(input: AsyncIterable<unknown>): Promise<string> {
  let line = '';
  for await (const chunk of input) {
    for (const character of String(chunk)) {
      if (character === CTRL_C) throw new CliError(EXIT.refused, 'Nothing was changed.');
      if (character === '\r' || character === '\n' || character === CTRL_D) return line;
      line = DELETE.has(character) ? line.slice(0, -1) : line + character;
    }
  }
  return line;
}
