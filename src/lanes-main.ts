/** The thread that reads manifests and finds the targets of changed files. */
import { TASKS } from './lanes/tasks.ts';
import { answerTasks } from './lib/answer-tasks.ts';

answerTasks(TASKS);
