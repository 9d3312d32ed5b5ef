// Queues whose checks leave reports of tests, and uploads of such reports by others.
import assert from 'node:assert/strict';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import type { UploadView } from '../../src/app/uploads/uploads.ts';
import { aCheckedQueue, untilLeft } from './checks.ts';
import { type Client, until } from './harness.ts';
import type { ServerWorld, TestQueue } from './test-queue.ts';

export const FAILURE = '<failure message="no">no</failure>';

/**
 * Each test fails if the commit has a file that says so. The report names all of them. With a file `poison.txt` it says
 * that each of them passed only when it was tried again; with `break-z.txt` the command fails.
 */
function commandOf(tests: readonly string[]): string {
  return `
mkdir -p reports
code=0
run() {
  if [ -f "break-$1.txt" ]; then
    code=1; echo "<testcase name=\\"$1\\" classname=\\"math\\" time=\\"0.1\\"><failure message=\\"no\\">no</failure></testcase>"
  else
    mark=; if [ -f poison.txt ]; then mark='<flakyFailure message="no">no</flakyFailure>'; fi
    echo "<testcase name=\\"$1\\" classname=\\"math\\" time=\\"0.1\\">$mark</testcase>"
  fi
}
{ echo '<testsuite name="math">'; ${tests.map((test) => `run ${test};`).join(' ')} echo '</testsuite>'; } > reports/unit.xml
if [ -f break-z.txt ]; then code=1; fi
# The braces are no subshell, so that their variable is known here.
exit $code`;
}

/** A queue whose one check runs these tests. */
export function aReportingQueue(
  world: ServerWorld,
  tests: readonly string[],
  settings: object = {},
): Promise<TestQueue> {
  const checks = [{ name: 'test', command: commandOf(tests) }];
  return aCheckedQueue(world, checks, { settings, repository: { junit: ['reports/*.xml'] } });
}

/** Submits a pull request with these files, and waits until it has landed or failed. */
export async function submitFiles(queue: TestQueue, files: Readonly<Record<string, string>> = {}): Promise<EntryView> {
  return untilLeft(queue, await queue.submitOne({ [`change-${Math.random()}.txt`]: 'x\n', ...files }));
}

export function reportOf(...cases: readonly string[]): string {
  return `<testsuite name="math">${cases.join('')}</testsuite>`;
}

export function caseOf(name: string, inside = ''): string {
  return `<testcase name="${name}" classname="math" time="0.1">${inside}</testcase>`;
}

/** Acts as an outside CI: uploads a report of the queue's repository. */
export async function upload(
  api: Client,
  { repo }: TestQueue,
  more: Readonly<Record<string, string>>,
  report: string,
): Promise<void> {
  const repository = { repo_host: repo.host, repo_owner: repo.owner, repo_name: repo.name };
  const fields = new URLSearchParams({ org_url_slug: 'default', ...repository, ...more });
  const init = { method: 'POST', headers: { 'content-type': 'application/xml' }, body: report };
  const { status, text } = await api.send(`flaky-tests/upload-results?${fields}`, init);
  assert.equal(status, 202, text);
}

/** Waits until every upload of the repository is processed. */
export async function processed({ api, repo }: TestQueue): Promise<void> {
  const body = { repo, org_url_slug: 'default', page_query: {} };
  await until('every upload is processed', 20_000, async () => {
    const { uploads } = await api.ok<{ uploads: readonly UploadView[] }>('flaky-tests/list-uploads', body);
    return uploads.every(({ status }) => status !== 'ACCEPTED') ? true : undefined;
  });
}
