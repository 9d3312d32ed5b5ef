import { call, type Reply } from '../../core/api.ts';
import { isSame, nameOf } from '../../core/places.ts';
import { useResource } from '../../core/resource.ts';
import { type Repo, toPath } from '../../core/route.ts';
import { may } from '../../core/session.ts';
import type { Look } from '../../model/state.ts';
import { Empty, Loaded } from '../../ui/page-states.tsx';
import { Shape } from '../../ui/shape.tsx';
import { Sentence } from '../../ui/text.tsx';
import { useOpening } from '../../ui/use-opening.tsx';
import { TryChecks } from './try-checks.tsx';

type Repository = Reply<'listRepositories'>['repositories'][number];

const LEVELS: Readonly<Record<string, Pick<Look, 'shape' | 'tone'>>> = {
  OK: { shape: 'check', tone: 'good' },
  WARNING: { shape: 'mark', tone: 'warn' },
  ERROR: { shape: 'cross', tone: 'bad' },
};

export function Repositories({ org }: { readonly org: string }) {
  const found = useResource(
    `repositories ${org}`,
    async (signal) => {
      const { repositories } = await call(org, 'listRepositories', {}, { signal });
      const { queues } = await call(org, 'listQueues', {}, { signal });
      return { repositories, queues };
    },
    { isTouchedBy: ({ type }) => type.startsWith('repository.') || type.startsWith('queue.') },
  );
  return (
    <section aria-label="Repositories">
      <h2>Repositories</h2>
      <Loaded of={found} lines={3}>
        {({ repositories, queues }) =>
          repositories.length === 0 ? (
            <Empty title="No repository yet" isPart>
              <pre>
                <code>{'sluice repo add local/acme/app --git /srv/git/app.git --check "test=npm test"'}</code>
              </pre>
              <p>
                For GitHub, <code>sluice forge setup github</code> guides through it.
              </p>
            </Empty>
          ) : (
            <ul class="things">
              {repositories.map((repository) => (
                <One
                  key={`${repository.repo.host} ${nameOf(repository.repo)}`}
                  org={org}
                  repository={repository}
                  branches={queues.filter(({ repo }) => isSame(repo, repository.repo)).map(({ branch }) => branch)}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

interface OneProps {
  readonly org: string;
  readonly repository: Repository;
  readonly branches: readonly string[];
}

function One({ org, repository, branches }: OneProps) {
  const { repo, git, checks, checksBlocked, fileChecks } = repository;
  const { isOpen, button } = useOpening({ show: 'Check it', hide: 'Close' });
  const trial = useOpening({ show: 'Try its checks', hide: 'Close the try' });
  const isTriable = git !== null && checksBlocked === null && (checks.length > 0 || fileChecks !== null);
  return (
    <li>
      <div class="title-row">
        <span>
          <strong>{nameOf(repo)}</strong> <span class="muted">{repo.host}</span>{' '}
          {branches.map((branch) => (
            <a key={branch} class="chip" href={toPath({ page: 'queue', org, repo, branch })}>
              {branch}
            </a>
          ))}
        </span>
        {isTriable && may({ org }, 'instance') && trial.button}
        {button}
      </div>
      {git !== null && (
        <p class="muted">
          <code>{git}</code>
          {checks.length > 0 && <> · runs {checks.map(({ name }) => name).join(', ')}</>}
        </p>
      )}
      {checksBlocked !== null && <p class="wrong">{checksBlocked}</p>}
      {trial.isOpen && <TryChecks org={org} repo={repo} />}
      {isOpen && branches.map((branch) => <Findings key={branch} org={org} repo={repo} branch={branch} />)}
      {isOpen && branches.length === 0 && <p class="muted">It has no queue yet.</p>}
    </li>
  );
}

function Findings({ org, repo, branch }: { readonly org: string; readonly repo: Repo; readonly branch: string }) {
  const found = useResource(`findings ${org} ${repo.host} ${nameOf(repo)} ${branch}`, (signal) =>
    call(org, 'inspectRepository', { repo, targetBranch: branch }, { signal }),
  );
  return (
    <Loaded of={found} lines={3}>
      {({ findings }) => (
        <ul class="findings">
          {findings.map(({ level, code, text }) => {
            const { shape, tone } = LEVELS[level] ?? { shape: 'dash', tone: 'quiet' };
            return (
              <li key={`${code} ${text}`} class={`tone-${tone}`}>
                <Shape name={shape} />
                <span>
                  <Sentence text={text} />
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </Loaded>
  );
}
