import { useSignal } from '@preact/signals';
import { call } from '../../core/api.ts';
import { query, setQuery } from '../../core/location.ts';
import { nameOf, pullRequestPath, type RepoPlace, repoKey, testScope, touchesTests } from '../../core/places.ts';
import type { Upload } from '../../core/replies.ts';
import { useFormer, useResource } from '../../core/resource.ts';
import { formatBytes, plural } from '../../model/number.ts';
import { rangeOf } from '../../model/test-list.ts';
import { evidenceOf, lookOfIssue, lookOfUpload } from '../../model/upload.ts';
import { External } from '../../ui/external.tsx';
import { RepoHead, useTitle } from '../../ui/layout.tsx';
import { Empty, Loaded } from '../../ui/page-states.tsx';
import { Paging } from '../../ui/paging.tsx';
import { Shape, State } from '../../ui/shape.tsx';
import { Ago, Copy, Sha } from '../../ui/text.tsx';
import { UploadActions } from './upload-actions.tsx';

const SIZE = 25;

/** Deliveries of test results, newest first, with what is wrong with each. */
export function UploadsPage({ org, repo }: RepoPlace) {
  const place = { org, repo };
  const token = query.value.get('page') ?? '';
  useTitle(`Uploads of ${nameOf(repo)}`);
  const uploads = useResource(
    `uploads ${repoKey(place)} ${token}`,
    (signal) => {
      const page_query = { page_size: SIZE, page_token: token };
      return call(org, 'listUploads', { ...testScope(place), page_query }, { signal });
    },
    { isTouchedBy: (event) => touchesTests(repo, event) },
  );
  const shown = useFormer(uploads);
  // A page may be gone by now.
  const refresh = token === '' ? uploads.refresh : () => setQuery({ page: undefined });
  return (
    <>
      <RepoHead org={org} repo={repo} tab="uploads" />
      <h1>Uploads</h1>
      <Loaded of={{ ...shown, refresh }} lines={8}>
        {({ uploads: all, page }) => (
          <div class={shown.isFormer ? 'list-part stale' : 'list-part'} aria-busy={shown.isFormer}>
            {all.length === 0 && <NoUpload place={place} />}
            <ul class="uploads">
              {all.map((upload) => (
                <UploadLine key={upload.id} place={place} upload={upload} onChange={uploads.refresh} />
              ))}
            </ul>
            {page.total_rows > 0 && <Paging page={page} range={rangeOf(page, all.length, SIZE)} />}
          </div>
        )}
      </Loaded>
    </>
  );
}

interface LineProps {
  readonly place: RepoPlace;
  readonly upload: Upload;
  readonly onChange: () => void;
}

function UploadLine({ place, upload, onChange }: LineProps) {
  const { status, received_at, branch, sha, pr_number, job_name, job_url, job_attempt, check, variant, ignored } =
    upload;
  const look = lookOfUpload(status);
  return (
    <li class={`upload tone-${look.tone}`}>
      <div class="title-row">
        <span class="line">
          <State look={look} />
          <strong>{job_name ?? check ?? 'results'}</strong>
          {variant !== '' && <span class="chip">{variant}</span>}
          {job_attempt !== null && job_attempt > 1 && <span class="muted">try {job_attempt}</span>}
          {job_url !== null && <External url={job_url}>job</External>}
          <span class="muted">
            <Ago at={received_at} />
          </span>
        </span>
        <UploadActions place={place} upload={upload} onChange={onChange} />
      </div>
      <p class="line muted">
        {branch !== null && <span>{branch}</span>}
        {sha !== null && <Sha sha={sha} />}
        {pr_number !== null && <a href={pullRequestPath(place, pr_number)}>#{pr_number}</a>}
        <span>{plural(upload.test_runs, 'test run')}</span>
        <span>
          {plural(upload.files, 'file')}, {formatBytes(upload.size_bytes)}
        </span>
        {status !== 'ACCEPTED' && status !== 'FAILED' && <span>{evidenceOf(upload)}</span>}
        <Copy text={upload.id} shown={upload.id.slice(0, 8)} />
      </p>
      {ignored !== undefined && (
        <p>
          {ignored.actor} took it back <Ago at={ignored.at} />: “{ignored.reason}”
        </p>
      )}
      <Issues issues={upload.issues} />
    </li>
  );
}

const FEW = 3;

function Issues({ issues }: { readonly issues: Upload['issues'] }) {
  const isWhole = useSignal(false);
  if (issues.length === 0) return null;
  const shown = isWhole.value ? issues : issues.slice(0, FEW);
  return (
    <>
      <ul class="issues" aria-label="Issues">
        {shown.map((issue, index) => (
          <Issue key={`${issue.message} ${index}`} issue={issue} />
        ))}
      </ul>
      {issues.length > shown.length && (
        <button
          type="button"
          class="link"
          onClick={() => {
            isWhole.value = true;
          }}
        >
          Show {issues.length - shown.length} more
        </button>
      )}
    </>
  );
}

function Issue({ issue: { level, file, line, message, hint } }: { readonly issue: Upload['issues'][number] }) {
  const look = lookOfIssue(level);
  const where = [file, line].filter((part) => part !== null).join(':');
  return (
    <li class={`tone-${look.tone}`}>
      <Shape name={look.shape} />
      <span>
        <span class="level">{look.word}</span> {message} {where !== '' && <code>{where}</code>}
        {hint !== '' && <span class="because">{hint}</span>}
      </span>
    </li>
  );
}

function NoUpload({ place }: { readonly place: RepoPlace }) {
  return (
    <Empty title="No upload yet." isPart>
      <p>CI uploads JUnit reports after its tests, whether they passed or failed:</p>
      <pre>
        <code>{`sluice upload -R ${place.repo.host}/${nameOf(place.repo)} "reports/**/*.xml"`}</code>
      </pre>
    </Empty>
  );
}
