import type { ComponentChildren } from 'preact';
import type { ApiProblem } from '../core/api.ts';
import type { Resource } from '../core/resource.ts';

/** Shows what was read, a placeholder while it is being read, or why it cannot be. */
export function Loaded<T>({
  of,
  children,
  lines = 6,
}: {
  readonly of: Resource<T>;
  readonly children: (value: T) => ComponentChildren;
  readonly lines?: number;
}) {
  if (of.value !== undefined) return <>{children(of.value)}</>;
  return of.problem === undefined ? <Loading lines={lines} /> : <Problem problem={of.problem} onRetry={of.refresh} />;
}

export function Loading({ lines }: { readonly lines: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class="bone" />
      ))}
    </div>
  );
}

export function Problem({ problem, onRetry }: { readonly problem: ApiProblem; readonly onRetry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{problem.message}</p>
      <p class="muted">
        <a href={`/docs#${problem.code}`}>{problem.code}</a>
        {onRetry !== undefined && (
          <button type="button" class="link" onClick={onRetry}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  /** The page has another title. */
  readonly isPart?: boolean;
  readonly children?: ComponentChildren;
}

/** A place where nothing is yet. It says what to do about it. */
export function Empty({ title, isPart = false, children }: EmptyProps) {
  const Title = isPart ? 'h2' : 'h1';
  return (
    <div class="empty">
      <Title class="title">{title}</Title>
      {children}
    </div>
  );
}
