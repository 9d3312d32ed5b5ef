import { createInterface } from 'node:readline';
import { isCode } from './receive-code.ts';

/** What people copy: the code, or the whole address that it stands in. */
export function parseCode(given: string): string | undefined {
  const text = given.trim();
  const found = URL.canParse(text) ? new URL(text).searchParams.get('code') : text.replace(/^.*\bcode=|&.*$/g, '');
  return found !== null && isCode(found) ? found : undefined;
}

export interface PastedCode {
  /** Until somebody has pasted one; rejected where standard input ends first. */
  readonly code: Promise<string>;
  close(): void;
}

/** Where arguments are seen by everybody on the machine, standard input is not. */
export function readPastedCode(input: NodeJS.ReadableStream, complain: (line: string) => void): PastedCode {
  const lines = createInterface({ input, terminal: false });
  const code = new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const found = parseCode(line);
      if (found !== undefined) resolve(found);
      else if (line.trim() !== '') complain(line);
    });
    lines.once('close', () => reject(new Error('standard input ended')));
  });
  // Whoever waits for it hears of it; nobody may.
  code.catch(() => undefined);
  return { code, close: () => lines.close() };
}
