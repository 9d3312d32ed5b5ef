/** The thread that plays queues in simulated time. */
import { parentPort } from 'node:worker_threads';
import type { Answered, Asked } from './simulator/thread/simulator-thread.ts';
import { TASKS } from './simulator/thread/tasks.ts';

const port = parentPort;
if (port === null) throw new Error('this file is the entry of a thread');
port.on('message', (asked: Asked) => port.postMessage(answer(asked)));

function answer({ no, kind, input }: Asked): Answered {
  try {
    return { no, result: TASKS[kind](input as never) };
  } catch (error) {
    return { no, problem: error instanceof Error ? error.message : String(error) };
  }
}
