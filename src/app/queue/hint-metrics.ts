import type { Gauge } from '../../lib/exposition.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';

/** Shows whether the workers keep up with webhooks. None where no repository is on a hosted forge. */
export async function countHints(app: App, repositories: readonly Repository[]): Promise<readonly Gauge[]> {
  const hosts = [...new Set(repositories.map(({ host }) => host))];
  const hosted = hosts.filter((host) => app.forges.get(host)?.hosting !== undefined);
  if (hosted.length === 0) return [];
  const now = app.clock.now();
  const due = new Map((await app.store.hints.countDue(now)).map((each) => [each.host, each]));
  const gauge = (name: string, help: string, measure: (host: string) => number): Gauge => ({
    type: 'gauge',
    name,
    help,
    samples: hosted.map((host) => ({ labels: { repo_host: host }, value: measure(host) })),
  });
  return [
    gauge(
      'mq_notices_waiting',
      'What the forge told of and is due to be looked at now.',
      (host) => due.get(host)?.count ?? 0,
    ),
    gauge(
      'mq_notices_oldest_due_seconds',
      'For how long the oldest of them has been due.',
      (host) => Math.max(0, now - (due.get(host)?.oldestDueAt ?? now)) / 1000,
    ),
  ];
}
