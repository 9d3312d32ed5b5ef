import { cut } from './text-width.ts';

export type StatusStream = Pick<NodeJS.WriteStream, 'isTTY' | 'write'> & { readonly columns?: number };

/** Redraws the line of the cursor on a terminal, within its width; elsewhere nothing. Without a text, erases it. */
export function drawStatus(stream: StatusStream, text = ''): void {
  if (stream.isTTY) stream.write(`\r\u001b[K${cut(text, (stream.columns || 80) - 1)}`);
}
