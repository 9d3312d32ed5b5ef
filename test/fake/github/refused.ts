import type { Answer } from './exchange.ts';

const DOCUMENTATION = 'https://docs.github.com/rest';

/** An expected no, as GitHub words it. */
export class Refused extends Error {
  readonly status: number;
  readonly errors: readonly unknown[] | undefined;

  constructor(status: number, message: string, errors?: readonly unknown[]) {
    super(message);
    this.name = 'Refused';
    this.status = status;
    this.errors = errors;
  }

  toAnswer(): Answer {
    const { status, message, errors } = this;
    const extra = errors === undefined ? {} : { errors };
    return { status, body: { message, ...extra, documentation_url: DOCUMENTATION, status: String(status) } };
  }
}

export function notFound(): Refused {
  return new Refused(404, 'Not Found');
}

export function invalid(...errors: readonly unknown[]): Refused {
  return new Refused(422, 'Validation Failed', errors);
}

/** The repository has another name by now. */
export class Moved extends Error {
  readonly location: string;

  constructor(location: string) {
    super('Moved Permanently');
    this.name = 'Moved';
    this.location = location;
  }

  toAnswer(): Answer {
    const { message, location } = this;
    return { status: 301, headers: { location }, body: { message, url: location, documentation_url: DOCUMENTATION } };
  }
}
