import type { Timing } from '../../../src/lib/clock.ts';
import { Prng } from '../../../src/lib/prng.ts';
import type { FakeGithub } from '../../fake/github/fake-github.ts';
import type { WebhookConditions } from '../../fake/github/webhooks.ts';
import type { ApiFault } from '../../fake/hosted/faults.ts';
import type { Coverage } from '../coverage.ts';
import type { GithubConditions } from './conditions.ts';

const COMMON: readonly ApiFault[] = [
  { kind: 'error', status: 502, when: 'before' },
  { kind: 'error', status: 500, when: 'after' },
  { kind: 'reset', when: 'before' },
  { kind: 'reset', when: 'after' },
  { kind: 'slow', byMs: 3_000 },
  { kind: 'secondary_limit', retryAfterSeconds: 4 },
];
const SILENT: readonly ApiFault[] = [
  { kind: 'silence', when: 'before' },
  { kind: 'silence', when: 'after' },
];
/** The most frequent faults of a merge whose outcome is unknown. */
const OF_MERGES: readonly ApiFault[] = [
  { kind: 'error', status: 500, when: 'after' },
  { kind: 'reset', when: 'after' },
  { kind: 'error', status: 503, when: 'before' },
  {
    kind: 'answer',
    when: 'before',
    answer: { status: 405, body: { message: 'Base branch was modified. Review and try the merge again.' } },
  },
];

/** Faults of GitHub until the returned function is called. */
export function spoilWeather(
  github: FakeGithub,
  { strength, silence }: GithubConditions,
  { seed, clock, coverage }: { readonly seed: number; readonly clock: Timing; readonly coverage: Coverage },
): () => void {
  const random = new Prng(`weather ${seed}`);
  const draw = () => random.integer(2 ** 31);
  github.faults.weather({ seed: draw(), share: 0.25 * strength, faults: OF_MERGES, route: 'PUT *merge' });
  github.faults.weather({ seed: draw(), share: 0.03 * strength, faults: COMMON });
  // Git itself waits for half a minute of real time.
  for (const route of ['* /repos/*', 'POST /graphql'])
    github.faults.weather({ seed: draw(), share: 0.005 * strength, faults: SILENT, route });
  const deliveries: WebhookConditions = {
    lost: 0.05 * strength,
    doubled: 0.1 * strength,
    isDoubledAnew: random.chance(0.5),
    disordered: random.pick([0, 0.3] as const),
    delayMs: random.pick([0, 0, 20] as const),
  };
  github.webhooks.configure(deliveries, draw());
  const callOffs =
    silence === undefined
      ? []
      : [
          clock.after(silence.at, () => {
            coverage.note('webhooks off');
            github.webhooks.configure({ ...deliveries, isOff: true }, draw());
          }),
          clock.after(silence.at + silence.forMs, () => github.webhooks.configure(deliveries, draw())),
        ];
  return () => {
    for (const cancel of callOffs) cancel();
    github.faults.clear();
    github.webhooks.configure({});
    for (const { fault } of github.faults.fired) {
      const when = 'when' in fault ? ` ${fault.when}` : '';
      coverage.note(`github.${fault.kind}${when}`);
    }
    for (const { status } of github.webhooks.deliveries) coverage.note(`delivery.${status}`);
  };
}
