import { parentPort } from 'node:worker_threads';
import type { Answered, Asked } from './task-thread.ts';

/** The other end of a TaskThread, called in the file that the thread begins with. */
export function answerTasks(tasks: Readonly<Record<string, (input: never) => unknown>>): void {
  const port = parentPort;
  if (port === null) throw new Error('this file is the entry of a thread');
  port.on('message', (asked: Asked) => port.postMessage(answer(tasks[asked.kind], asked)));
}

function answer(task: ((input: never) => unknown) | undefined, { kind, input }: Asked): Answered {
  try {
    return task === undefined ? { problem: `There is no task ${kind}.` } : { result: task(input as never) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
