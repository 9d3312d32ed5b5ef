import type { Reply } from './api.ts';

export type Queue = Reply<'getQueue'>;
export type Entry = Queue['enqueuedPullRequests'][number];
export type PullRequest = Reply<'getSubmittedPullRequest'>;
type Testing = Reply<'getMergeQueueTestingDetails'>;
export type AllTesting = Extract<Testing, { testRuns: unknown }>;
export type TestRun = AllTesting['testRuns'][number];
export type Search = NonNullable<AllTesting['searches']>[number];
export type Upload = Reply<'listUploads'>['uploads'][number];
