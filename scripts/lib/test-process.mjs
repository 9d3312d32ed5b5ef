// A process that runs test files one after the other, each as a suite of its own. File descriptor 4 brings the name of
// the next file, a line each. File descriptor 3 says that a file begins, synchronously: a loop that never yields would
// keep an asynchronous message from being sent.
import asyncHooks from 'node:async_hooks';
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';

// node:test follows every promise, so that it knows which suite a test or an error belongs to. That takes a tenth of
// the CPU time. Here it does so only while suites are built; an error that nothing catches fails the file instead.
const { createHook } = asyncHooks;
let follower;
asyncHooks.createHook = (callbacks) => {
  follower = createHook(callbacks);
  return follower;
};
const { describe } = await import('node:test');
asyncHooks.createHook = createHook;

const send = (message) => writeSync(3, `${JSON.stringify(message)}\n`);
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error) => send({ kind: 'uncaught', error: `${event}: ${inspect(error)}` }));

const input = new Socket({ fd: 4, readable: true, writable: false });
for await (const file of createInterface({ input })) {
  send({ kind: 'begun' });
  follower?.enable();
  await describe(file, async () => {
    await import(pathToFileURL(resolve(file)).href);
    follower?.disable();
  });
}
