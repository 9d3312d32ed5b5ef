import { call, type Reply } from '../../core/api.ts';
import { query, setQuery } from '../../core/location.ts';
import { nameOf, type RepoPlace, repoKey, testScope, touchesTests } from '../../core/places.ts';
import { useFormer, useResource } from '../../core/resource.ts';
import { isNarrowed, type ListQuery, listBodyOf, parseListQuery, rangeOf } from '../../model/test-list.ts';
import { RepoHead, useTitle } from '../../ui/layout.tsx';
import { Empty, Loaded } from '../../ui/page-states.tsx';
import { Paging } from '../../ui/paging.tsx';
import { Filters } from './filters.tsx';
import { ReviewList } from './review-list.tsx';
import { TestTable } from './test-table.tsx';

type Listed = Reply<'listTests'>;

/** Every test of a repository, with what it did in the last 30 days. */
export function TestsPage({ org, repo }: RepoPlace) {
  const place = { org, repo };
  const asked = parseListQuery(query.value);
  useTitle(`Tests of ${nameOf(repo)}`);
  const body = listBodyOf(asked);
  const tests = useResource(
    `tests ${repoKey(place)} ${JSON.stringify(body)}`,
    (signal) => call(org, 'listTests', { ...testScope(place), ...body }, { signal }),
    { isTouchedBy: (event) => touchesTests(repo, event) },
  );
  const shown = useFormer(tests);
  const refresh = asked.page === '' ? tests.refresh : toFirstPage;
  return (
    <>
      <RepoHead org={org} repo={repo} tab="tests" />
      <h1>Tests</h1>
      <ReviewList place={place} />
      <Filters asked={asked} owners={ownersOf(shown.value)} />
      <Loaded of={{ ...shown, refresh }} lines={10}>
        {({ tests: all, page }) => (
          <div class={shown.isFormer ? 'list-part stale' : 'list-part'} aria-busy={shown.isFormer}>
            {all.length === 0 ? (
              <NoTest place={place} asked={asked} />
            ) : (
              <TestTable place={place} tests={all} asked={asked} />
            )}
            {page.total_rows > 0 && <Paging page={page} range={rangeOf(page, all.length)} />}
          </div>
        )}
      </Loaded>
    </>
  );
}

/** A page of a list that has changed since may be gone. */
const toFirstPage = () => setQuery({ page: undefined });

function ownersOf(shown: Listed | undefined): readonly string[] {
  return [...new Set((shown?.tests ?? []).flatMap(({ codeowners }) => codeowners))].sort();
}

function NoTest({ place, asked }: { readonly place: RepoPlace; readonly asked: ListQuery }) {
  const { host } = place.repo;
  if (isNarrowed(asked)) {
    const clear = () => setQuery({ status: undefined, quarantined: undefined, owner: undefined, text: undefined });
    return (
      <Empty title="No test fits." isPart>
        <button type="button" onClick={clear}>
          Show all tests
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No test results yet." isPart>
      <p>CI uploads JUnit reports after its tests, whether they passed or failed. Try it from a checkout:</p>
      <pre>
        <code>{`sluice upload -R ${host}/${nameOf(place.repo)} "reports/**/*.xml"`}</code>
      </pre>
      <p>From then on Sluice finds the tests that fail at random, and shows them here.</p>
    </Empty>
  );
}
