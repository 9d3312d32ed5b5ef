import { useSignal } from '@preact/signals';
import { call, type Reply } from '../../core/api.ts';
import { now } from '../../core/clock.ts';
import { type RepoPlace, repoKey, testScope, touchesTests } from '../../core/places.ts';
import { useResource } from '../../core/resource.ts';
import { toPath } from '../../core/route.ts';
import { isToReview } from '../../model/test-list.ts';
import { Ago } from '../../ui/text.tsx';

type Quarantined = Reply<'listQuarantinedTests'>['quarantined_tests'][number];

/** Pages of 100 tests that are looked through. A repository with more quarantined tests has another problem. */
const MOST_PAGES = 5;
const FEW = 3;

/** Quarantines that end soon, or seem to have outlived their reason. */
export function ReviewList({ place }: { readonly place: RepoPlace }) {
  const isWhole = useSignal(false);
  const quarantined = useResource(`review ${repoKey(place)}`, (signal) => readQuarantined(place, signal), {
    isTouchedBy: (event) => event.type.startsWith('test_case.') && touchesTests(place.repo, event),
  });
  const found = (quarantined.value ?? []).filter((test) => isToReview(test, now.value));
  if (found.length === 0) return null;
  const shown = isWhole.value ? found : found.slice(0, FEW);
  return (
    <section class="review" aria-label="Quarantines to review">
      <h2>
        Quarantines to review <span class="count">{found.length}</span>
      </h2>
      <ul>
        {shown.map((test) => (
          <li key={test.test_case_id}>
            <a href={toPath({ page: 'test', ...place, testId: test.test_case_id })}>{test.name}</a> <Why test={test} />
          </li>
        ))}
      </ul>
      {found.length > shown.length && (
        <button
          type="button"
          class="link"
          onClick={() => {
            isWhole.value = true;
          }}
        >
          Show {found.length - shown.length} more
        </button>
      )}
    </section>
  );
}

async function readQuarantined(place: RepoPlace, signal: AbortSignal): Promise<readonly Quarantined[]> {
  const all: Quarantined[] = [];
  let token = '';
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const body = { ...testScope(place), page_query: { page_size: 100, page_token: token } };
    const { quarantined_tests, page } = await call(place.org, 'listQuarantinedTests', body, { signal });
    all.push(...quarantined_tests);
    token = page.next_page_token;
    if (token === '') break;
  }
  return all;
}

function Why({ test: { review, expires_at, quarantined_at } }: { readonly test: Quarantined }) {
  return (
    <span class="muted">
      {review === 'ALWAYS_PASSES' && 'only passes now: end its quarantine? '}
      {review === 'NEVER_RUNS' && 'no longer runs: delete it, or run it again? '}
      quarantined <Ago at={quarantined_at} />
      {expires_at !== undefined && (
        <>
          , ends <Ago at={expires_at} />
        </>
      )}
    </span>
  );
}
