// The process that runs test files, one after the other, each as a suite of its own. File descriptor 3 carries one JSON
// line for each file that begins: a loop that never yields would keep an asynchronous message from being sent.
import { writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';

for (const file of (process.env.SLUICE_TEST_FILES ?? '').split('\n').filter(Boolean)) {
  tell({ kind: 'begun', file });
  await describe(file, () => import(pathToFileURL(resolve(file)).href));
  // Reporters get their turn: what a file said must be out before the next one can keep them from saying it.
  await new Promise((resume) => setImmediate(resume));
}
tell({ kind: 'ended' });

function tell(message) {
  writeSync(3, `${JSON.stringify(message)}\n`);
}
