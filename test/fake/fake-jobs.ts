import type { CheckRunner, Job, JobEnd, LeftFile, RunnerSafety } from '../../src/check-runner/runner.ts';
import { noCaches } from './no-jobs.ts';

/** A requested job, which the test ends. */
export interface FakeJob {
  readonly job: Job;
  isStopped: boolean;
  print(text: string): Promise<void>;
  /** The command leaves these files behind, by name. */
  leave(files: Readonly<Record<string, string>>, problems?: readonly string[]): Promise<void>;
  end(end: JobEnd): void;
  fail(error: Error): void;
}

function toLeftFile([name, text]: readonly [string, string]): LeftFile {
  const bytes = Buffer.from(text);
  const read = async function* () {
    yield bytes;
  };
  return { name, sizeBytes: bytes.length, read };
}

/** Runs nothing. Jobs start at once, and end when the test says so or they are stopped. */
export class FakeJobs implements CheckRunner {
  readonly asked: FakeJob[] = [];
  isCrowded = false;
  readonly caches = noCaches;
  readonly explainMissing = async (program = 'It') => `${program} is in no folder.`;
  safety: RunnerSafety = { protection: 'users', sentence: 'Nothing runs.', runsUntrusted: true, closesNetwork: false };

  async run(job: Job, stop: AbortSignal): Promise<JobEnd> {
    const { promise, resolve, reject } = Promise.withResolvers<JobEnd>();
    const asked: FakeJob = {
      job,
      isStopped: false,
      print: (text) => job.onOutput(Buffer.from(text)),
      leave: async (files, problems = []) => {
        if ((await job.reports?.begin?.()) === false) return;
        await job.reports?.take({ root: '/check/tree', files: Object.entries(files).map(toLeftFile), problems });
      },
      end: resolve,
      fail: reject,
    };
    this.asked.push(asked);
    const onStop = () => {
      asked.isStopped = true;
      resolve({ kind: 'stopped' });
    };
    if (stop.aborted) onStop();
    stop.addEventListener('abort', onStop, { once: true });
    await job.onStart();
    return promise;
  }

  async close(): Promise<void> {}

  /** The latest job of this check. */
  find(name: string): FakeJob | undefined {
    return this.asked.findLast(({ job }) => job.variables['SLUICE_CHECK'] === name);
  }
}
