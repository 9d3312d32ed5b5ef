import type { Answer } from '../hosted/answer.ts';

const DOCUMENTATION = 'https://docs.github.com/rest';

/** An expected refusal in GitHub's words. */
export class Refused extends Error {
  readonly status: number;
  readonly errors: readonly unknown[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    errors?: readonly unknown[],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'Refused';
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }

  toAnswer(): Answer {
    const { status, message, errors, headers } = this;
    const extra = errors === undefined ? {} : { errors };
    return { status, headers, body: { message, ...extra, documentation_url: DOCUMENTATION, status: String(status) } };
  }
}

export function notFound(): Refused {
  return new Refused(404, 'Not Found');
}

export function invalid(...errors: readonly unknown[]): Refused {
  return new Refused(422, 'Validation Failed', errors);
}

/** The repository was renamed. A write is redirected with 307 instead of 301, so that clients repeat it unchanged. */
export class Moved extends Error {
  readonly location: string;
  readonly status: number;

  constructor(location: string, method: string) {
    super('Moved Permanently');
    this.name = 'Moved';
    this.location = location;
    this.status = method === 'GET' || method === 'HEAD' ? 301 : 307;
  }

  toAnswer(): Answer {
    const { message, location, status } = this;
    return { status, headers: { location }, body: { message, url: location, documentation_url: DOCUMENTATION } };
  }
}
