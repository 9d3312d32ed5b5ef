import type { PullRequest } from '../../core/replies.ts';
import { Copy } from '../../ui/text.tsx';

type Result = NonNullable<PullRequest['result']>;

/** Both sides of its conflict, and how to get the exact commit that failed. */
export function Repro({ result: { conflict, repro } }: { readonly result: Result }) {
  const hunks = conflict?.untrusted.hunks ?? '';
  return (
    <>
      {hunks !== '' && (
        <section aria-label="Conflict">
          <h2>Both sides</h2>
          <pre class="log">{hunks}</pre>
        </section>
      )}
      {repro !== undefined && (
        <section aria-label="Reproduce">
          <h2>The exact commit that failed</h2>
          <ul class="commands">
            {[repro.fetch, repro.checkout, ...repro.checks.flatMap(({ command = [] }) => command)].map((command) => (
              <li key={command}>
                <Copy text={command} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
