import { formatRepo, type RepoRef } from './arguments.ts';
import type { Client } from './client.ts';
import { CliError } from './exit.ts';
import { proposal } from './nearest.ts';

interface Named {
  readonly repo?: RepoRef;
  readonly targetBranch?: string;
}

// SPEC W35
export async function explainRefusal(client: Client, error: unknown, body: unknown): Promise<unknown> {
  const code = error instanceof CliError ? (error.problem as { code?: string } | undefined)?.code : undefined;
  if (code !== 'REPOSITORY_NOT_FOUND' && code !== 'QUEUE_NOT_FOUND') return error;
  const refusal = error as CliError;
  const proposed = await propose(client, code, body as Named).catch(() => '');
  return new CliError(refusal.exitCode, refusal.message + proposed, refusal.problem);
}

async function propose(client: Client, code: string, { repo, targetBranch }: Named): Promise<string> {
  if (repo === undefined) return '';
  if (code === 'REPOSITORY_NOT_FOUND') {
    const { repositories } = await client.call('listRepositories', {}, { retries: 0 });
    return proposal(
      formatRepo(repo),
      repositories.map((each) => formatRepo(each.repo)),
    );
  }
  const { queues } = await client.call('listQueues', { repo }, { retries: 0 });
  return proposal(
    targetBranch ?? '',
    queues.map(({ branch }) => branch),
  );
}
