import type { PullRequest } from '../../core/replies.ts';
import type { QueuePlace } from '../../core/route.ts';
import { Shape } from '../../ui/shape.tsx';
import { Ago, Copy, Sha } from '../../ui/text.tsx';

type Landed = NonNullable<PullRequest['landed']>;

const KINDS: Readonly<Record<string, string>> = {
  IDENTICAL: 'The commit that was tested is the commit that landed.',
  SAME_TREE: 'The commits were made again; their content is exactly what was tested.',
  COMPOSED: 'The tested content, plus the files of pull requests that landed meanwhile and share none with it.',
  PREFIX: 'The forge merged it before the rest of its batch, which was tested as a whole.',
  UNPROVEN: 'The forge merged it onto something else than what was tested.',
};

/** The proof that what landed is what was tested, and how to check it without Sluice. */
export function Proof({ place, landed }: { readonly place: QueuePlace; readonly landed: Landed }) {
  const isProven = landed.kind !== 'UNPROVEN';
  const isSame = landed.pushedTree === landed.testedTree;
  return (
    <section class={`proof tone-${isProven ? 'good' : 'bad'}`} aria-label="Proof">
      <h2>Proof</h2>
      <p>
        <Shape name={isProven ? 'check' : 'cross'} /> {KINDS[landed.kind] ?? landed.kind}
      </p>
      <dl class="facts">
        <dt>Landed</dt>
        <dd>
          <Sha sha={landed.sha} /> on {place.branch}, <Ago at={landed.at} />
        </dd>
        <dt>Landed tree</dt>
        <dd>
          <Sha sha={landed.pushedTree} />
        </dd>
        <dt>Tested tree</dt>
        <dd>
          <Sha sha={landed.testedTree} />{' '}
          <span class="muted">{isSame ? 'the same' : 'without what landed beside it'}</span>
        </dd>
        {landed.composedWith.length > 0 && (
          <>
            <dt>Together with</dt>
            <dd>{landed.composedWith.map((number) => `#${number}`).join(', ')}</dd>
          </>
        )}
        <dt>Waived</dt>
        <dd>
          {landed.waived.length === 0
            ? 'nothing'
            : landed.waived.map(({ check, tests }) => [check, ...tests.map(({ name }) => name)].join(' › ')).join('; ')}
        </dd>
      </dl>
      {isSame && (
        <p class="muted">
          Check it yourself:{' '}
          <Copy
            text={`git rev-parse ${landed.pushedSha}^{tree}`}
            shown={`git rev-parse ${landed.pushedSha.slice(0, 10)}^{tree}`}
          />{' '}
          prints <code>{landed.testedTree.slice(0, 10)}…</code>
        </p>
      )}
    </section>
  );
}
