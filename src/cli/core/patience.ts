import { CliError, EXIT } from './exit.ts';

export interface Patience {
  /** Undefined if the server is unavailable for now, which is reported once. Throws every other error. */
  ask<T>(question: () => Promise<T>): Promise<T | undefined>;
}

/** For long-running commands: a restart of the server does not end them. */
export function createPatience(said: {
  readonly failed: (text: string) => void;
  readonly back: (text: string) => void;
}): Patience {
  let isAway = false;
  return {
    ask: async (question) => {
      try {
        const answer = await question();
        if (isAway) said.back('The server answers again.');
        isAway = false;
        return answer;
      } catch (error) {
        if (!(error instanceof CliError) || !isTransient(error)) throw error;
        if (!isAway) said.failed(`${error.message.split('\n')[0]} Trying again.`);
        isAway = true;
        return undefined;
      }
    },
  };
}

function isTransient({ exitCode, status }: CliError): boolean {
  return exitCode === EXIT.unavailable || status === 429;
}
