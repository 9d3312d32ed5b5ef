// A process that runs test files one after the other, each as a suite of its own. File descriptor 4 brings the name of
// the next file, a line each. File descriptor 3 says that a file begins, synchronously: a loop that never yields would
// keep an asynchronous message from being sent.
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';

const input = new Socket({ fd: 4, readable: true, writable: false });
for await (const file of createInterface({ input })) {
  writeSync(3, `${JSON.stringify({ kind: 'begun' })}\n`);
  await describe(file, () => import(pathToFileURL(resolve(file)).href));
}
