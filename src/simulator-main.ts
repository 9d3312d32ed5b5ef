/** The thread that plays queues in simulated time. */
import { answerTasks } from './lib/answer-tasks.ts';
import { TASKS } from './simulator/thread/tasks.ts';

answerTasks(TASKS);
