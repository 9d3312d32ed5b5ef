import type { ChildProcess } from 'node:child_process';

const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Ends the child with this process: a test that fails half way leaves it behind. */
export function endWithProcess(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}

/** The output so far. */
export function collectOutput({ stdout, stderr }: ChildProcess): { out: string; err: string } {
  const output = { out: '', err: '' };
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.out += text;
  });
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.err += text;
  });
  return output;
}
