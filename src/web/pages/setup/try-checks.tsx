import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { CheckProgress } from '../../../contract/try-checks.ts';
import { ApiProblem, callLines } from '../../core/api.ts';
import type { Repo } from '../../core/route.ts';
import { Shape } from '../../ui/shape.tsx';

/** More would make the page slow. */
const MAX_SHOWN = 50_000;

interface Tried {
  readonly output: string;
  /** Sentences, and whether each is good. */
  readonly verdicts: readonly (readonly [isGood: boolean, text: string])[];
  readonly hasEnded: boolean;
}

const BEGUN: Tried = { output: '', verdicts: [], hasEnded: false };

interface Subject {
  readonly org: string;
  readonly repo: Repo;
}

/** Runs the checks of the repository as long as it is shown. */
export function TryChecks(subject: Subject) {
  const tried = useSignal(BEGUN);
  const first = useRef({ ...subject, tried });
  useEffect(() => begin(first.current), []);
  const { output, verdicts, hasEnded } = tried.value;
  return (
    <>
      {output !== '' && <pre class="log">{output}</pre>}
      <ul class="findings" aria-live="polite">
        {verdicts.map(([isGood, text]) => (
          <li key={text} class={isGood ? 'tone-good' : 'tone-bad'}>
            <Shape name={isGood ? 'check' : 'cross'} />
            <span>{text}</span>
          </li>
        ))}
        {!hasEnded && <li class="muted">The checks run on the head of the branch. Closing this ends them.</li>}
      </ul>
    </>
  );
}

/** Returns how to end it. */
function begin({ org, repo, tried }: Subject & { readonly tried: Signal<Tried> }): () => void {
  const stop = new AbortController();
  const end = (text: string) => {
    tried.value = { ...tried.value, verdicts: [...tried.value.verdicts, [false, text]], hasEnded: true };
  };
  const read = async () => {
    for await (const line of callLines<CheckProgress>(org, 'tryChecks', { repo }, stop.signal))
      tried.value = withLine(tried.value, line);
    if (!tried.value.hasEnded) end('The server ended the connection before the checks had ended.');
  };
  read().catch((error: unknown) => {
    if (!stop.signal.aborted) end(error instanceof ApiProblem ? error.message : 'The connection is gone. Try again.');
  });
  return () => stop.abort();
}

function withLine(tried: Tried, line: CheckProgress): Tried {
  if ('output' in line) return { ...tried, output: (tried.output + line.output).slice(-MAX_SHOWN) };
  const [isGood, text] =
    'passed' in line
      ? ([line.passed, line.text] as const)
      : ([line.conclusion === 'SUCCESS', `${line.check}: ${line.text}`] as const);
  return { ...tried, verdicts: [...tried.verdicts, [isGood, text]], hasEnded: 'passed' in line };
}
